import { type DragEvent, type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import { fresh } from '../../api/alive'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import type { Reference } from '../../ui/reference-choice'
import { Badge, Button, Notice } from '../../ui/parts'
import type { Chat } from './chats'
import { Forms, kindsOf } from './forms'
import { after, longest, tooLong } from './long'
import { type Message, preview } from './preview'
import { Templates } from './templates'
import { upload as uploadFile } from './upload'

type Content = Schemas['SendInputBody']['message']

/** Composer writes to the chat. What is typed is kept until it is sent, also over a reload. */
export function Composer({ reference, chatId, chat, answering, done }: { reference: Reference; chatId: string; chat: Chat | null | undefined; answering: Message | null; done: () => void }) {
  const stored = `trunkline.draft.${reference.id}.${chatId}`
  const [text, setText] = useState(() => sessionStorage.getItem(stored) ?? '')
  const [open, setOpen] = useState<'template' | 'form' | null>(null)
  const [held, setHeld] = useState('') // what was pasted, and is too long for a message
  const file = useRef<HTMLInputElement>(null)
  const latest = useRef(text)
  const write = (next: string) => {
    latest.current = next
    setText(next)
    if (next) sessionStorage.setItem(stored, next)
    else sessionStorage.removeItem(stored)
  }
  // The same key for each attempt at the same text: a second click sends nothing twice.
  const attempt = useRef({ text: '', key: '' })
  const send = useAct(
    async (message: Content) => {
      const body = { reference: reference.id, chatId, message, ...(answering ? { context: { messageId: answering.id } } : {}) }
      const said = JSON.stringify(body)
      if (attempt.current.text !== said) attempt.current = { text: said, key: fresh() }
      return got(api.POST('/chats/send', { body, params: { header: { 'Idempotency-Key': attempt.current.key } } }))
    },
    {
      then: async (_, message) => {
        attempt.current = { text: '', key: '' }
        if ('type' in message && message.type === 'text') write(after(message.text, latest.current))
        done()
        await client.invalidateQueries({ queryKey: ['messages', reference.id, chatId] })
      },
    },
  )
  const upload = useAct(async (chosen: File) => {
    const media = await uploadFile(reference.id, chosen)
    const caption = media.type === 'audio' ? '' : latest.current.trim()
    await send.mutateAsync({ ...media, ...(caption ? { caption } : {}) })
    if (caption) write(after(caption, latest.current))
  })
  const take = (event: { currentTarget: HTMLTextAreaElement; preventDefault: () => void }, data: DataTransfer | null) => {
    const pasted = data?.getData('text') ?? ''
    if (!tooLong(event.currentTarget, pasted)) return
    event.preventDefault()
    setHeld(pasted)
  }
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (text.trim() && !send.isPending) send.mutate({ type: 'text', text })
  }
  const closed = send.problem?.code === 'window_closed'
  const { templates } = reference.capabilities
  const show = (next: typeof open) => {
    send.reset()
    setOpen(next)
  }
  const sendOpen = (message: Content) => send.mutate(message, { onSuccess: () => setOpen(null) })
  const said = send.problem?.errors[0]?.message ?? send.problem?.message
  return (
    <>
      <form className="composer" data-kept onSubmit={submit}>
        {chat && <Window chat={chat} />}
        {answering && (
          <p className="row">
            <Badge>{t('inbox.reply')}</Badge>
            <span className="clip grow" dir="auto">
              {preview(answering)}
            </span>
            <Button tone="quiet" icon="close" label={t('cancel')} onClick={done} />
          </p>
        )}
        {send.problem && !open && (
          <Notice tone="bad">
            {said} {closed && templates && <Button onClick={() => show('template')}>{t('inbox.template')}</Button>}
          </Notice>
        )}
        {held && (
          <Notice tone="warn">
            {t('inbox.tooLong', { n: number(held.length), most: number(longest) })}{' '}
            <Button
              busy={upload.isPending}
              onClick={() => upload.mutate(new File([held], `${t('inbox.textFile')}.txt`, { type: 'text/plain' }), { onSuccess: () => setHeld('') })}
            >
              {t('inbox.sendAsFile')}
            </Button>{' '}
            <Button tone="quiet" onClick={() => setHeld('')}>
              {t('cancel')}
            </Button>
          </Notice>
        )}
        <div className="composer-row">
          <input
            ref={file}
            type="file"
            className="hidden"
            tabIndex={-1}
            aria-label={t('inbox.file')}
            onChange={(event) => {
              const chosen = event.target.files?.[0]
              event.target.value = ''
              if (chosen) upload.mutate(chosen)
            }}
          />
          <Button tone="quiet" icon="clip" label={t('inbox.file')} busy={upload.isPending} onClick={() => file.current?.click()} />
          {templates && <Button tone="quiet" icon="template" label={t('inbox.template')} onClick={() => show('template')} />}
          {kindsOf(reference).length > 0 && <Button tone="quiet" icon="plus" label={t('forms.title')} onClick={() => show('form')} />}
          <textarea
            className="input grow"
            rows={2}
            dir="auto"
            aria-label={t('inbox.message')}
            placeholder={t('inbox.message')}
            value={text}
            onChange={(event) => write(event.target.value)}
            onPaste={(event) => take(event, event.clipboardData)}
            onDrop={(event: DragEvent<HTMLTextAreaElement>) => take(event, event.dataTransfer)}
            onKeyDown={(event: KeyboardEvent) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
            }}
          />
          <Button type="submit" tone="main" icon="send" busy={send.isPending}>
            {t('inbox.send')}
          </Button>
        </div>
      </form>
      {open === 'template' && <Templates reference={reference} close={() => show(null)} send={sendOpen} busy={send.isPending} wrong={said} />}
      {open === 'form' && <Forms reference={reference} close={() => show(null)} send={sendOpen} busy={send.isPending} problem={send.problem} />}
    </>
  )
}

/** Window says how long free messages may still be written. */
function Window({ chat }: { chat: Chat }) {
  if (chat.optedOut) return <Notice tone="warn">{t('inbox.optedOut')}</Notice>
  if (chat.windowExpiresAt === null) return null
  const left = chat.windowExpiresAt - Date.now() / 1000
  return <p className="small mute">{left > 0 ? t('inbox.windowOpen', { at: time(chat.windowExpiresAt) }) : t('inbox.windowClosed')}</p>
}
