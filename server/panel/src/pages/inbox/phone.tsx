import { type FormEvent, useMemo, useRef, useState } from 'react'
import { api, got } from '../../api/client'
import { useNews } from '../../api/live'
import { client, usePages } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Input } from '../../ui/field'
import { Button } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { Virtual } from '../../ui/virtual'
import { Attachment } from './attachment'
import { Words } from './bubble'
import { after } from './long'
import { type MediaContent, upload } from './upload'

/** Shown is a message as the simulated phone shows it. */
interface Shown {
  id: string
  direction: 'in' | 'out'
  type: string
  text?: string
  caption?: string
  question?: string
  options?: string[]
  name?: string
  address?: string
  latitude?: number
  longitude?: number
  contacts?: { name: { formattedName: string }; phones?: { phone: string }[] }[]
  fileUrl?: string
  fileName?: string
  buttons?: { id: string; title: string }[]
  sections?: { rows: { id: string; title: string }[] }[]
  edited?: boolean
  reactions?: { emoji: string }[]
}

type Written = { type: 'text'; text: string } | { type: 'reply'; id: string; title: string } | (MediaContent & { caption?: string })

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
  const write = useAct((content: Written) => got(api.POST('/sandbox/{reference}/messages', { params: { path: { reference } }, body: { from, name: name.trim(), ...content } as never })), {
    then: async (_, content) => {
      const sent = 'text' in content ? content.text : 'caption' in content ? content.caption : ''
      if (sent) setText((now) => after(sent, now))
      await client.invalidateQueries({ queryKey: key })
      if (!chatId) go(`/inbox/${reference}/${encodeURIComponent(`${from}@sandbox`)}`)
    },
  })
  const chosen = useRef<HTMLInputElement>(null)
  const attach = useAct(async (file: File) => {
    const media = await upload(reference, file)
    await write.mutateAsync({ ...media, ...(text.trim() && media.type !== 'audio' ? { caption: text.trim() } : {}) })
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
              {message.fileUrl && <Attachment type={message.type} url={message.fileUrl} name={message.fileName} />}
              <Words text={wordsOf(message)} />
              {(message.edited || message.reactions) && (
                <p className="small mute">
                  {message.edited && t('inbox.edited')} {message.reactions?.map((reaction) => reaction.emoji).join(' ')}
                </p>
              )}
              <Choices message={message} choose={(reply) => write.mutate({ type: 'reply', ...reply })} />
            </div>
          </div>
        )}
      />
      <form className="composer-row" onSubmit={submit}>
        <input
          ref={chosen}
          type="file"
          className="hidden"
          tabIndex={-1}
          aria-label={t('phone.file')}
          onChange={(event) => {
            const file = event.target.files?.[0]
            event.target.value = ''
            if (file) attach.mutate(file)
          }}
        />
        <Button tone="quiet" icon="clip" label={t('phone.file')} busy={attach.isPending} onClick={() => chosen.current?.click()} />
        <input className="input grow" dir="auto" aria-label={t('phone.write')} placeholder={t('phone.write')} value={text} onChange={(event) => setText(event.target.value)} />
        <Button type="submit" icon="send" label={t('phone.send')} busy={write.isPending} />
      </form>
    </section>
  )
}

/** wordsOf is what a message says in words. */
function wordsOf(message: Shown): string {
  switch (message.type) {
    case 'poll':
      return [message.question, ...(message.options ?? []).map((option) => `○ ${option}`)].join('\n')
    case 'location':
      return [message.name, message.address, `${message.latitude}, ${message.longitude}`].filter(Boolean).join('\n')
    case 'contacts':
      return (message.contacts ?? []).map((card) => [card.name.formattedName, ...(card.phones ?? []).map((phone) => phone.phone)].join('\n')).join('\n\n')
    default:
      return message.text ?? message.caption ?? (message.fileUrl ? '' : `(${message.type})`)
  }
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
