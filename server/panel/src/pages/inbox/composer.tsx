import { type DragEvent, type FormEvent, type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { fresh } from '../../api/alive'
import { api, got, type Problem } from '../../api/client'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import type { Reference } from '../../ui/reference-choice'
import { Badge, Button, Notice } from '../../ui/parts'
import type { Chat } from './chats'
import { kindsOf } from './kinds'
import { longest, tooLong } from './long'
import { type Content, discard, type Outgoing, reasonOf, submit as enqueue } from './outgoing'
import { type Message, preview } from './preview'
import { Templates } from './templates'
import { enterSends } from './settings'
import { StagedFiles, useStaged } from './staged'
import { kindOf } from './upload'

const Forms = lazy(() => import('./forms'))

interface Props {
  reference: Reference
  chatId: string
  chat: Chat | null | undefined
  answering: Message | null
  /** Called when the message that is answered is answered. */
  done: () => void
  /** Called when something was added to the thread. */
  sending: () => void
  /** Called when the server has answered. */
  sent: () => unknown
}

/** Composer writes to the chat. What is typed is kept until it is sent, also over a reload. */
export function Composer({ reference, chatId, chat, answering, done, sending, sent }: Props) {
  const stored = `trunkline.draft.${reference.id}.${chatId}`
  const [text, setText] = useState(() => sessionStorage.getItem(stored) ?? '')
  const [open, setOpen] = useState<'template' | 'form' | null>(null)
  const [held, setHeld] = useState('') // what was pasted, and is too long for a message
  const file = useRef<HTMLInputElement>(null)
  const box = useRef<HTMLTextAreaElement>(null)
  // Who opens a chat from the list, or answers a message, writes next.
  useEffect(() => {
    if (answering || (document.activeElement?.matches('[data-row]') && matchMedia('(pointer: fine)').matches)) box.current?.focus()
  }, [answering])
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
      then: async () => {
        attempt.current = { text: '', key: '' }
        done()
        sending()
        await sent()
      },
    },
  )
  const { staged, place, add, remove } = useStaged()
  const sendFile = (one: File, caption = '') => {
    const type = kindOf(one.type)
    enqueue(reference.id, chatId, { type, ...(type === 'document' ? { fileName: one.name } : {}), ...(caption ? { caption } : {}) } as Content, answering?.id, { sent, refused }, one)
  }
  const take = (event: { currentTarget: HTMLTextAreaElement; preventDefault: () => void }, data: DataTransfer | null) => {
    const pasted = data?.getData('text') ?? ''
    if (!tooLong(event.currentTarget, pasted)) return
    event.preventDefault()
    setHeld(pasted)
  }
  const [refusal, setRefusal] = useState<Problem>()
  const shown = useRef(true)
  useEffect(() => () => void (shown.current = false), [])
  /** refused puts what was written back, to be changed, unless something else was written meanwhile. */
  const refused = (item: Outgoing, why: Problem) => {
    if (!shown.current || latest.current || !('text' in item.content)) return false
    discard(item.chat, [item.key])
    write(item.content.text)
    setRefusal(why)
    return true
  }
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const words = latest.current
    if (!words.trim() && staged.length === 0) return
    setRefusal(undefined)
    // The first file that takes a caption has it.
    const captioned = staged.find(({ file }) => kindOf(file.type) !== 'audio')
    for (const one of staged) sendFile(one.file, one === captioned ? words.trim() : '')
    remove(staged)
    if (!captioned && words.trim()) enqueue(reference.id, chatId, { type: 'text', text: words }, answering?.id, { sent, refused })
    write('')
    done()
    sending()
    box.current?.focus()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing && (event.ctrlKey || event.metaKey || (enterSends() && !event.shiftKey && !event.altKey))) {
      event.preventDefault()
      submit()
    }
    if (event.key === 'Escape' && answering) done()
    else if (event.key === 'Escape') document.querySelector<HTMLElement>('[data-row][aria-current]')?.focus() // where j and k move
  }
  const problem = send.problem ?? refusal
  const closed = problem?.code === 'window_closed'
  const { templates } = reference.capabilities
  const show = (next: typeof open) => {
    send.reset()
    setRefusal(undefined)
    setOpen(next)
  }
  const sendOpen = (message: Content) => send.mutate(message, { onSuccess: () => setOpen(null) })
  const said = problem && reasonOf(problem)
  return (
    <>
      <form ref={place} className="composer" data-kept onSubmit={submit}>
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
        {problem && !open && (
          <Notice tone="bad">
            {said} {closed && templates && <Button onClick={() => show('template')}>{t('inbox.template')}</Button>}
          </Notice>
        )}
        {held && (
          <Notice tone="warn">
            {t('inbox.tooLong', { n: number(held.length), most: number(longest) })}{' '}
            <Button
              onClick={() => {
                sendFile(new File([held], `${t('inbox.textFile')}.txt`, { type: 'text/plain' }))
                setHeld('')
                sending()
              }}
            >
              {t('inbox.sendAsFile')}
            </Button>{' '}
            <Button tone="quiet" onClick={() => setHeld('')}>
              {t('cancel')}
            </Button>
          </Notice>
        )}
        <StagedFiles staged={staged} remove={remove} />
        <div className="composer-row">
          <input
            ref={file}
            type="file"
            multiple
            className="hidden"
            tabIndex={-1}
            aria-label={t('inbox.file')}
            onChange={(event) => {
              add(event.target.files ?? [])
              event.target.value = ''
            }}
          />
          <Button tone="quiet" icon="clip" label={t('inbox.file')} onClick={() => file.current?.click()} />
          {templates && <Button tone="quiet" icon="template" label={t('inbox.template')} onClick={() => show('template')} />}
          {kindsOf(reference).length > 0 && <Button tone="quiet" icon="plus" label={t('forms.title')} onClick={() => show('form')} />}
          <textarea
            ref={box}
            className="input grow"
            rows={2}
            dir="auto"
            aria-label={t('inbox.message')}
            placeholder={t(staged.length > 0 ? 'inbox.caption' : 'inbox.message')}
            value={text}
            onChange={(event) => write(event.target.value)}
            onPaste={(event) => {
              if (event.clipboardData.files.length === 0) return take(event, event.clipboardData)
              event.preventDefault()
              add(event.clipboardData.files)
            }}
            onDrop={(event: DragEvent<HTMLTextAreaElement>) => {
              if (event.dataTransfer.files.length === 0) take(event, event.dataTransfer) // else the thread takes them
            }}
            onKeyDown={press}
          />
          <Button type="submit" tone="main" icon="send">
            {t('inbox.send')}
          </Button>
        </div>
      </form>
      {open === 'template' && <Templates reference={reference} close={() => show(null)} send={sendOpen} busy={send.isPending} wrong={said} />}
      <Suspense fallback={null}>{open === 'form' && <Forms reference={reference} close={() => show(null)} send={sendOpen} busy={send.isPending} problem={send.problem} />}</Suspense>
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
