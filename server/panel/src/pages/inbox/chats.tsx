import { memo, useDeferredValue, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { useNews } from '../../api/live'
import { refreshHead, usePages } from '../../api/query'
import { t, time } from '../../text'
import { Badge, Failed, Loading } from '../../ui/parts'
import { Virtual } from '../../ui/virtual'
import { preview } from './preview'

export type Chat = Schemas['MessagingChat']

const idOf = (chat: Chat) => chat.id

/** Chats lists the chats of a reference, the newest first. */
export function Chats({ reference, open, sandbox, text }: { reference: number; open: string; sandbox: boolean; text: string }) {
  const search = useDeferredValue(text.trim())
  const kept = search && `?${new URLSearchParams({ search })}`
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
  return (
    <>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <p className="empty">{search ? t('inbox.nothingFound') : sandbox ? t('inbox.noChatsSandbox') : t('inbox.noChats')}</p>}
      {list.items.length > 0 && (
        <Virtual
          items={list.items}
          id={idOf}
          estimate={68}
          label={t('inbox.title')}
          className="inbox-chats"
          nearEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
          }}
          row={(chat) => <Row chat={chat} reference={reference} open={chat.id === open} kept={kept} />}
        />
      )}
    </>
  )
}

/** Row is a chat of the list; kept is what was searched for, which stays when it is opened. */
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
