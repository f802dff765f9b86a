import { type FormEvent, useMemo, useState } from 'react'
import { api, got } from '../../api/client'
import { useNews } from '../../api/live'
import { client, usePages } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Input } from '../../ui/field'
import { Button } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { Virtual } from '../../ui/virtual'
import { Words } from './bubble'

/** Shown is a message as the simulated phone shows it. */
interface Shown {
  id: string
  direction: 'in' | 'out'
  type: string
  text?: string
  caption?: string
  buttons?: { id: string; title: string }[]
  sections?: { rows: { id: string; title: string }[] }[]
}

const idOf = (message: Shown) => message.id

/** Phone is the contact's simulated phone: what it shows, and what is written on it. */
export function Phone({ reference, chatId }: { reference: number; chatId: string }) {
  const go = useGo()
  const [name, setName] = useState(chatId.replace(/@sandbox$/, '') || 'ana')
  const from = name.trim().toLowerCase()
  const [text, setText] = useState('')
  const key = ['phone', reference, from]
  const list = usePages(
    key,
    (cursor) => got(api.GET('/sandbox/{reference}/messages', { params: { path: { reference }, query: { from, limit: 100, ...(cursor ? { cursor } : {}) } } })) as unknown as Promise<{ items: Shown[]; next: string | null }>,
    chatId !== '', // a contact who has never written has no screen yet
  )
  const messages = useMemo(() => list.items.toReversed(), [list.data])
  useNews((news) => {
    if (news.data.reference === reference && (news.kind === 'message' || news.kind === 'status')) void client.invalidateQueries({ queryKey: key })
  })
  const write = useAct((content: { type: 'text'; text: string } | { type: 'reply'; id: string; title: string }) => got(api.POST('/sandbox/{reference}/messages', { params: { path: { reference } }, body: { from, name: name.trim(), ...content } as never })), {
    then: async () => {
      setText('')
      await client.invalidateQueries({ queryKey: key })
      if (!chatId) go(`/inbox/${reference}/${encodeURIComponent(`${from}@sandbox`)}`)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim()) write.mutate({ type: 'text', text })
  }
  return (
    <section className="phone" aria-labelledby="phone">
      <h2 id="phone">{t('phone.title')}</h2>
      {!chatId && <Input label={t('phone.contact')} hint={t('phone.contactHint')} value={name} onChange={(event) => setName(event.target.value)} wrong={write.wrong('from')} />}
      <Virtual
        items={messages}
        id={idOf}
        estimate={44}
        label={t('phone.screen')}
        className="phone-screen"
        fromEnd
        nearStart={() => {
          if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
        }}
        row={(message) => (
          <div className={`bubble-row ${message.direction === 'out' ? 'mine' : ''}`}>
            <div className="bubble">
              <Words text={message.text ?? message.caption ?? `(${message.type})`} />
              <Choices message={message} choose={(reply) => write.mutate({ type: 'reply', ...reply })} />
            </div>
          </div>
        )}
      />
      <form className="composer-row" onSubmit={submit}>
        <input className="input grow" dir="auto" aria-label={t('phone.write')} placeholder={t('phone.write')} value={text} onChange={(event) => setText(event.target.value)} />
        <Button type="submit" icon="send" label={t('phone.send')} busy={write.isPending} />
      </form>
    </section>
  )
}

function Choices({ message, choose }: { message: Shown; choose: (reply: { id: string; title: string }) => void }) {
  const choices = [...(message.buttons ?? []), ...(message.sections ?? []).flatMap((section) => section.rows)]
  if (message.direction !== 'in' || choices.length === 0) return null
  return (
    <div className="row">
      {choices.map((choice) => (
        <Button key={choice.id} onClick={() => choose({ id: choice.id, title: choice.title })}>
          {choice.title}
        </Button>
      ))}
    </div>
  )
}
