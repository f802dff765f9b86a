import { memo, useDeferredValue, useEffect, useMemo, useRef } from 'react'
import { Link, useSearchParams } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { useNews } from '../../api/live'
import { refreshHead, usePages } from '../../api/query'
import { number, t, time } from '../../text'
import { Badge, Failed, Loading, More } from '../../ui/parts'
import { Virtual } from '../../ui/virtual'
import { kept } from './address'
import { Filters, useFilters } from './filters'
import { preview } from './preview'

export type Chat = Schemas['MessagingChat']

const mostPages = 10 // that are looked through without being asked
const idOf = (chat: Chat) => chat.id

/** Chats lists the chats of a reference, the newest first. */
export function Chats({ reference, open, sandbox, text }: { reference: number; open: string; sandbox: boolean; text: string }) {
  const search = useDeferredValue(text.trim())
  const [params] = useSearchParams()
  const address = kept(params)
  const by = useFilters()
  const key = ['chats', reference, search]
  const read = (cursor: string | undefined) => got(api.GET('/chats/list', { params: { query: { reference, limit: 100, ...(search ? { search } : {}), ...(cursor ? { cursor } : {}) } } }))
  const list = usePages(key, read)
  const due = useRef<ReturnType<typeof setTimeout>>(undefined)
  useNews((news) => {
    if (news.data.reference !== reference || !['message', 'status', 'chat', 'run'].includes(news.kind)) return
    due.current ??= setTimeout(() => {
      due.current = undefined
      void refreshHead(key, read, idOf)
    }, 200)
  })
  useEffect(() => () => clearTimeout(due.current), [])
  const { matches } = by
  const items = useMemo(() => (matches ? list.items.filter((chat) => chat.id === open || matches(chat)) : list.items), [list.items, by.filter, by.tag, open])
  // Chats come and go as they change, and so the list is looked through here: the first chats, and more when they are asked for.
  const pages = list.data?.pages.length ?? 0
  const sparse = matches !== undefined && items.length < 20 && pages > 0 && pages < mostPages && list.hasNextPage && !list.isFetching && !list.error
  useEffect(() => {
    if (sparse) void list.fetchNextPage()
  }, [sparse, pages])
  return (
    <>
      <Filters {...by} chats={list.items} />
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && items.length === 0 && !list.hasNextPage && <p className="empty">{search || matches ? t('inbox.nothingFound') : sandbox ? t('inbox.noChatsSandbox') : t('inbox.noChats')}</p>}
      {items.length > 0 && (
        <Virtual
          items={items}
          id={idOf}
          estimate={68}
          label={t('inbox.title')}
          className="inbox-chats"
          nearEnd={() => {
            if (!matches && list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
          }}
          row={(chat) => <Row chat={chat} reference={reference} open={chat.id === open} kept={address} />}
        />
      )}
      {matches && list.hasNextPage && (
        <div className="inbox-search stack tight">
          <p className="small mute">{t('filter.looked', { n: number(list.items.length) })}</p>
          <More list={list} />
        </div>
      )}
    </>
  )
}

/** Row is a chat of the list; kept is what the address says of the list, which stays when it is opened. */
const Row = memo(function Row({ chat, reference, open, kept }: { chat: Chat; reference: number; open: boolean; kept: string }) {
  return (
    <Link className="chat-row" href={`/inbox/${reference}/${encodeURIComponent(chat.id)}${kept}`} aria-current={open ? 'true' : undefined} data-row>
      <span className="chat-line">
        <strong className="clip" dir="auto">
          {chat.name || chat.id}
        </strong>
        <span className="small mute chat-time">{time(chat.lastMessage?.messageTimestamp ?? chat.updatedAt)}</span>
      </span>
      <span className="chat-line">
        <span className="clip mute" dir="auto">
          {chat.lastMessage ? preview(chat.lastMessage) : ''}
        </span>
        <span className="row">
          {chat.handoff && <Badge tone="warn">{t(chat.handoff.taken ? 'inbox.person' : 'inbox.asked')}</Badge>}
          {chat.activeBot && <Badge tone="brand">{t('inbox.bot')}</Badge>}
          {chat.lastMessage?.mine && chat.lastMessage.status === 'FAIL' && <Badge tone="bad">{t('status.FAIL')}</Badge>}
          {chat.unread > 0 && (
            <Badge tone="ok">
              {chat.unread}
              <span className="hidden"> {t('inbox.unread')}</span>
            </Badge>
          )}
        </span>
      </span>
    </Link>
  )
})
