import { type FormEvent, useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm } from '../../ui/dialog'
import { Check, Input } from '../../ui/field'
import { Badge, Button, Notice } from '../../ui/parts'
import { useFilter, useGo } from '../../ui/query-state'
import type { Chat } from './chats'
import { useChat } from './thread'

type Change = Omit<Schemas['ChatInputBody'], 'reference' | 'chatId'>

/** Side is what is known of the contact, and what can be changed. */
export function Side({ reference, chatId }: { reference: number; chatId: string }) {
  const chat = useChat(reference, chatId)
  const may = useMay('chats.send')
  const [, show] = useFilter('show')
  const change = useAct((body: Change) => got(api.PATCH('/chats', { body: { reference, chatId, ...body } })), {
    then: () => client.invalidateQueries({ queryKey: ['chat', reference, chatId] }),
  })
  if (!chat.data) return null
  const one = chat.data
  return (
    <section className="side stack" aria-labelledby="contact">
      <div className="row spread">
        <h2 id="contact">{t('side.contact')}</h2>
        <span className="from-side">
          <Button tone="quiet" icon="close" label={t('close')} onClick={() => show('')} />
        </span>
      </div>
      <Handoff chat={one} may={may} change={change.mutate} />
      <Contact chat={one} may={may} change={change.mutateAsync} wrong={change.wrong} busy={change.isPending} />
      <Values title={t('side.variables')} values={one.variables} may={may} set={(variables, then) => change.mutate({ variables }, { onSuccess: then })} />
      <Values title={t('side.fields')} values={one.fields} may={may} set={(fields, then) => change.mutate({ fields }, { onSuccess: then })} />
      <Erase reference={reference} chatId={chatId} />
    </section>
  )
}

function Handoff({ chat, may, change }: { chat: Chat; may: boolean; change: (body: Change) => void }) {
  const { handoff } = chat
  return (
    <div className="stack tight">
      {handoff && (
        <Notice tone="warn">
          {t(handoff.taken ? 'side.taken' : 'side.asked', { target: handoff.target || '–' })}
          {handoff.note && <span dir="auto"> {handoff.note}</span>}
          {handoff.until !== null && ` ${t('side.until', { at: time(handoff.until) })}`}
        </Notice>
      )}
      {may && (
        <div className="row">
          {!handoff?.taken && <Button onClick={() => change({ handoff: 'take' })}>{t('side.take')}</Button>}
          {handoff && <Button onClick={() => change({ handoff: 'close' })}>{t('side.giveBack')}</Button>}
        </div>
      )}
    </div>
  )
}

function Contact({ chat, may, change, wrong, busy }: { chat: Chat; may: boolean; change: (body: Change) => Promise<unknown>; wrong: (member: string) => string | undefined; busy: boolean }) {
  // What is being changed stays as it is typed, whatever else changes meanwhile.
  const [edits, setEdits] = useState<{ name?: string; language?: string; tags?: string }>({})
  const { name, language, tags } = { name: chat.name, language: chat.language ?? '', tags: chat.tags.join(', '), ...edits }
  const set = (member: keyof typeof edits) => (event: { target: { value: string } }) => setEdits((before) => ({ ...before, [member]: event.target.value }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const list = tags.split(',').map((tag) => tag.trim())
    void change({ name, tags: list.filter(Boolean), ...(language ? { language } : {}) }).then(
      () => setEdits((now) => (now === edits ? {} : now)),
      () => undefined,
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      <dl className="facts small">
        <dt>{t('side.id')}</dt>
        <dd className="mono">{chat.id}</dd>
        <dt>{t('side.phone')}</dt>
        <dd>{chat.phone ?? '–'}</dd>
        <dt>{t('side.since')}</dt>
        <dd>{time(chat.createdAt)}</dd>
        {chat.activeBot && (
          <>
            <dt>{t('side.bot')}</dt>
            <dd>
              <Badge tone="brand">{chat.activeBot.engine}</Badge>
            </dd>
          </>
        )}
      </dl>
      <Input label={t('side.name')} dir="auto" value={name} onChange={set('name')} wrong={wrong('name')} disabled={!may} />
      <Input label={t('side.language')} value={language} onChange={set('language')} wrong={wrong('language')} disabled={!may} />
      <Input label={t('side.tags')} hint={t('side.tagsHint')} value={tags} onChange={set('tags')} wrong={wrong('tags')} disabled={!may} />
      <Check label={t('side.optedOut')} checked={chat.optedOut} onChange={(event) => void change({ optedOut: event.target.checked }).catch(() => undefined)} disabled={!may} />
      {may && (
        <div>
          <Button type="submit" busy={busy}>
            {t('save')}
          </Button>
        </div>
      )}
    </form>
  )
}

/** Values are names with JSON values; an empty value removes one. */
function Values({ title, values, may, set }: { title: string; values: Record<string, unknown>; may: boolean; set: (values: Record<string, unknown>, then: () => void) => void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set({ [name]: value === '' ? null : read(value) }, () => {
      setName('')
      setValue('')
    })
  }
  return (
    <details>
      <summary>
        {title} ({Object.keys(values).length})
      </summary>
      <dl className="facts small">
        {Object.entries(values).map(([key, one]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt className="mono">{key}</dt>
            <dd className="mono" dir="auto">
              {JSON.stringify(one)}
            </dd>
          </div>
        ))}
      </dl>
      {may && (
        <form className="row headers" onSubmit={submit}>
          <Input label={t('side.key')} value={name} onChange={(event) => setName(event.target.value)} required />
          <Input label={t('side.value')} hint={t('side.valueHint')} value={value} onChange={(event) => setValue(event.target.value)} />
          <Button type="submit">{t('side.set')}</Button>
        </form>
      )}
    </details>
  )
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function Erase({ reference, chatId }: { reference: number; chatId: string }) {
  const may = useMay('users.manage')
  const go = useGo()
  const [asking, setAsking] = useState(false)
  const act = useAct(() => got(api.DELETE('/chats', { params: { query: { reference, chatId } } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['chats', reference] })
      go(`/inbox/${reference}`)
    },
  })
  const save = useAct(async () => {
    const all = await got(api.GET('/chats/export', { params: { query: { reference, chatId } } }))
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([JSON.stringify(all, null, 2)], { type: 'application/json' }))
    link.download = 'contact.json'
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000)
  })
  if (!may) return null
  return (
    <div className="row">
      <Button busy={save.isPending} onClick={() => save.mutate(undefined)}>
        {t('side.export')}
      </Button>
      <Button tone="bad" onClick={() => setAsking(true)}>
        {t('side.erase')}
      </Button>
      {asking && <Confirm title={t('side.erase')} text={t('side.eraseText')} action={t('side.erase')} busy={act.isPending} run={() => act.mutate(undefined)} close={() => setAsking(false)} />}
    </div>
  )
}
