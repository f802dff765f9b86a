import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Link, useSearchParams } from 'wouter'
import { api, got } from '../../api/client'
import { useNews } from '../../api/live'
import { client, patch, refreshHead, usePages } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import type { Reference } from '../../ui/reference-choice'
import { Badge, Button, Failed, Loading } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Virtual } from '../../ui/virtual'
import { kept } from './address'
import { useAround } from './around'
import { Bubble } from './bubble'
import { Composer } from './composer'
import { Explain } from './explain'
import type { Message } from './preview'
import { Newest, useAgain, useReplyKey, useShown, useView } from './view'

const idOf = (message: Message) => message.id

/** Thread is one chat, its newest message at the bottom. */
export function Thread({ reference, chatId }: { reference: Reference; chatId: string }) {
  const { id } = reference
  const chat = useChat(id, chatId)
  const key = ['messages', id, chatId]
  const read = (before: string | undefined) => got(api.GET('/chats/messages', { params: { query: { reference: id, chatId, limit: 100, ...(before ? { before } : {}) } } }))
  const list = usePages(key, read)
  const [wanted, setWanted] = useFilter('message', true)
  const around = useAround(id, chatId, wanted, list.data && list.items, () => setWanted(''))
  const refresh = () => refreshHead(key, read, idOf)
  const { shown: messages, changes, byId } = useShown(id, chatId, list.items, around?.items)
  const { goTo, marked, newest, show, view } = useView(messages, byId, wanted, setWanted)
  const [answering, setAnswering] = useState<Message | null>(null)
  const [explained, setExplained] = useState<Message | null>(null)
  const [, setSide] = useFilter('show')
  const [params] = useSearchParams()
  const maySend = useMay('chats.send')
  const due = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(due.current), [])
  useNews((news) => {
    if (news.data.reference !== id || news.data.chatId !== chatId) return
    if (news.kind === 'status') patch<Message>(key, idOf, String(news.data.id), (message) => ({ ...message, status: news.data.status as Message['status'] }))
    if (news.kind !== 'message') return
    due.current ??= setTimeout(() => {
      due.current = undefined
      void refresh()
    }, 60)
  })
  useRead(id, chatId, chat.data?.unread ?? 0, list.items[0]?.id, maySend)
  useReplyKey(maySend ? () => setAnswering(messages.findLast((one) => !one.mine) ?? null) : undefined)
  const again = useAgain(id, chatId, refresh)
  return (
    <section className="thread" aria-label={chat.data?.name || chatId}>
      <header className="thread-head">
        <Link className="button quiet square back" href={`/inbox/${id}${kept(params)}`} aria-label={t('inbox.back')}>
          ‹
        </Link>
        <h2 className="grow clip" dir="auto">
          {chat.data?.name || chatId}
        </h2>
        {chat.data && <BotSwitch reference={id} chatId={chatId} active={chat.data.botActive === 1} may={maySend} />}
        <span className="to-side">
          <Button onClick={() => setSide('side')}>{t('inbox.details')}</Button>
        </span>
      </header>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      <div className="thread-body">
        <Virtual
          items={messages}
          id={idOf}
          estimate={64}
          label={t('inbox.thread')}
          className="thread-list"
          fromEnd
          nearStart={() => {
            if (around) around.readOlder()
            else if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
          }}
          nearEnd={() => around?.readNewer()}
          goTo={goTo}
          atEnd={view.atEnd}
          row={(message, at) => (
            <Bubble
              message={message}
              before={messages[at - 1]}
              marked={message.id === marked}
              again={again}
              changes={changes.get(message.id)}
              quoted={byId.get(message.context?.messageId ?? '')}
              quotedNow={changes.get(byId.get(message.context?.messageId ?? '')?.id ?? '')}
              jump={show}
              answer={maySend ? setAnswering : undefined}
              explain={setExplained}
            />
          )}
        />
        {(view.away || around) && <Newest count={around ? 0 : view.count} go={newest} />}
      </div>
      <p className="hidden" aria-live="polite">
        {messages.at(-1)?.direction === 'in' ? t('inbox.newMessage') : ''}
      </p>
      {maySend && <Composer reference={reference} chatId={chatId} chat={chat.data} answering={answering} done={() => setAnswering(null)} sending={newest} sent={refresh} />}
      {explained && <Explain reference={id} chatId={chatId} message={explained} close={() => setExplained(null)} />}
    </section>
  )
}

/** useChat is one chat of a reference. */
export function useChat(reference: number, chatId: string) {
  const key = ['chat', reference, chatId]
  const query = useQuery({
    queryKey: key,
    queryFn: async () => {
      // The list also has the chats of whose ids this id is only a part.
      let cursor: string | undefined
      for (let pages = 0; pages < 10; pages++) {
        const page = await got(api.GET('/chats/list', { params: { query: { reference, search: chatId, limit: 200, ...(cursor ? { cursor } : {}) } } }))
        const found = page.items.find((one) => one.id === chatId)
        if (found || !page.next) return found ?? null
        cursor = page.next
      }
      return null
    },
  })
  useNews((news) => {
    if (news.data.reference === reference && (news.data.chatId === chatId || news.data.id === chatId) && ['chat', 'run', 'message'].includes(news.kind)) void client.invalidateQueries({ queryKey: key })
  })
  return query
}

const watchShown = (tell: () => void) => {
  document.addEventListener('visibilitychange', tell)
  return () => document.removeEventListener('visibilitychange', tell)
}

/** useRead says that the thread was read, while it is in sight and has unread messages, whoever wrote the last one. */
function useRead(reference: number, chatId: string, unread: number, last: string | undefined, may: boolean) {
  const shown = useSyncExternalStore(watchShown, () => !document.hidden)
  const due = may && shown && unread > 0 ? last : undefined
  useEffect(() => {
    if (!due) return
    got(api.POST('/chats/read', { body: { reference, chatId } }))
      .then(() => Promise.all([['chat', reference, chatId], ['chats', reference]].map((queryKey) => client.invalidateQueries({ queryKey }))))
      .catch(() => undefined)
  }, [due])
}

function BotSwitch({ reference, chatId, active, may }: { reference: number; chatId: string; active: boolean; may: boolean }) {
  const act = useAct(() => got(api.PATCH('/chats', { body: { reference, chatId, botActive: !active } })), {
    then: () => client.invalidateQueries({ queryKey: ['chat', reference, chatId] }),
  })
  if (!may) return <Badge tone={active ? 'ok' : 'none'}>{t(active ? 'inbox.botOn' : 'inbox.botOff')}</Badge>
  return (
    <Button role="switch" aria-checked={active} busy={act.isPending} onClick={() => act.mutate(undefined)}>
      {t(active ? 'inbox.botOn' : 'inbox.botOff')}
    </Button>
  )
}
