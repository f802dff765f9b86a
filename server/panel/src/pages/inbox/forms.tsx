import { type FormEvent, type ReactNode, useState } from 'react'
import type { Problem, Schemas } from '../../api/client'
import { t } from '../../text'
import { Check, Input, TextArea } from '../../ui/field'
import { Dialog } from '../../ui/dialog'
import type { Reference } from '../../ui/reference-choice'
import { Button, Notice } from '../../ui/parts'
import { leave } from '../../ui/typed'
import { type Kind, kindsOf } from './kinds'

type Content = Schemas['SendInputBody']['message']

const forms = { buttons: ButtonsForm, list: ListForm, poll: PollForm, location: LocationForm, contacts: ContactForm } as const satisfies Record<Kind, unknown>

interface Props {
  reference: Reference
  close: () => void
  send: (message: Content) => void
  busy: boolean
  problem: Problem | undefined
}

/** Where a form shows what is wrong. */
const below =
  /^body\.message\.(text|button|question|latitude|longitude|name|address|buttons(\[\d+\]\.title)?|sections(\[0\]\.rows(\[\d+\]\.title)?)?|options(\[\d+\])?|contacts\[0\]\.(name(\.formattedName)?|phones\[0\]\.phone|emails\[0\]\.email|org\.company))$/

/** Forms writes messages that are more than words. */
export default function Forms({ reference, close, send, busy, problem }: Props) {
  const kinds = kindsOf(reference)
  const [kind, setKind] = useState<Kind>(kinds[0] ?? 'buttons')
  const Form = forms[kind]
  const elsewhere = problem && (problem.errors.length ? problem.errors.find((error) => !below.test(error.location))?.message : problem.message)
  return (
    <Dialog title={t('forms.title')} close={close}>
      <div className="stack">
        <div className="tabs" role="group" aria-label={t('forms.kind')}>
          {kinds.map((one) => (
            <button key={one} type="button" aria-current={one === kind ? 'page' : undefined} onClick={(event) => leave(() => setKind(one), event.currentTarget.closest('dialog') ?? undefined)}>
              {t(`forms.${one}`)}
            </button>
          ))}
        </div>
        {elsewhere && <Notice tone="bad">{elsewhere}</Notice>}
        <Form key={kind} send={send} wrong={(member) => problem?.at(`message.${member}`)}>
          <div className="row">
            <Button type="submit" tone="main" icon="send" busy={busy}>
              {t('inbox.send')}
            </Button>
            <Button onClick={close}>{t('cancel')}</Button>
          </div>
        </Form>
      </div>
    </Dialog>
  )
}

interface FormProps {
  send: (message: Content) => void
  wrong: (member: string) => string | undefined
  children: ReactNode
}

const submit = (run: () => void) => (event: FormEvent) => {
  event.preventDefault()
  run()
}

/** filled are the texts that say something, with ids by their place. */
const filled = (titles: string[]) => titles.map((title) => title.trim()).filter(Boolean)
const choices = (titles: string[]) => filled(titles).map((title, at) => ({ id: String(at + 1), title }))

function ButtonsForm({ send, wrong, children }: FormProps) {
  const [text, setText] = useState('')
  const [titles, setTitles] = useState([''])
  return (
    <form className="stack" onSubmit={submit(() => send({ type: 'buttons', text, buttons: choices(titles) }))}>
      <TextArea label={t('forms.question')} dir="auto" value={text} onChange={(e) => setText(e.target.value)} wrong={wrong('text')} required />
      <Choices label={t('forms.button')} values={titles} change={setTitles} most={3} hint={t('forms.buttonsHint')} wrong={(at) => wrong(`buttons[${at}].title`)} all={wrong('buttons')} />
      {children}
    </form>
  )
}

function ListForm({ send, wrong, children }: FormProps) {
  const [text, setText] = useState('')
  const [button, setButton] = useState('')
  const [titles, setTitles] = useState(['', ''])
  return (
    <form className="stack" onSubmit={submit(() => send({ type: 'list', text, button, sections: [{ rows: choices(titles) }] }))}>
      <TextArea label={t('forms.question')} dir="auto" value={text} onChange={(e) => setText(e.target.value)} wrong={wrong('text')} required />
      <Input label={t('forms.opens')} hint={t('forms.opensHint')} dir="auto" value={button} onChange={(e) => setButton(e.target.value)} wrong={wrong('button')} required />
      <Choices label={t('forms.row')} values={titles} change={setTitles} most={10} hint={t('forms.rowsHint')} wrong={(at) => wrong(`sections[0].rows[${at}].title`)} all={wrong('sections') ?? wrong('sections[0].rows')} />
      {children}
    </form>
  )
}

function PollForm({ send, wrong, children }: FormProps) {
  const [question, setQuestion] = useState('')
  const [options, setOptions] = useState(['', ''])
  const [multiple, setMultiple] = useState(false)
  return (
    <form className="stack" onSubmit={submit(() => send({ type: 'poll', question, options: filled(options), multiple }))}>
      <Input label={t('forms.question')} dir="auto" value={question} onChange={(e) => setQuestion(e.target.value)} wrong={wrong('question')} required />
      <Choices label={t('forms.option')} values={options} change={setOptions} most={12} wrong={(at) => wrong(`options[${at}]`)} all={wrong('options')} />
      <Check label={t('forms.multiple')} checked={multiple} onChange={(e) => setMultiple(e.target.checked)} />
      {children}
    </form>
  )
}

function LocationForm({ send, wrong, children }: FormProps) {
  const [form, setForm] = useState({ latitude: '', longitude: '', name: '', address: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const content = (): Content => ({
    type: 'location',
    latitude: Number(form.latitude),
    longitude: Number(form.longitude),
    ...(form.name ? { name: form.name } : {}),
    ...(form.address ? { address: form.address } : {}),
  })
  return (
    <form className="stack" onSubmit={submit(() => send(content()))}>
      <Input label={t('forms.latitude')} type="number" min={-90} max={90} step="any" value={form.latitude} onChange={set('latitude')} wrong={wrong('latitude')} required />
      <Input label={t('forms.longitude')} type="number" min={-180} max={180} step="any" value={form.longitude} onChange={set('longitude')} wrong={wrong('longitude')} required />
      <Input label={t('forms.place')} dir="auto" value={form.name} onChange={set('name')} wrong={wrong('name')} />
      <Input label={t('forms.address')} dir="auto" value={form.address} onChange={set('address')} wrong={wrong('address')} />
      {children}
    </form>
  )
}

function ContactForm({ send, wrong, children }: FormProps) {
  const [form, setForm] = useState({ name: '', phone: '', email: '', company: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const content = (): Content => ({
    type: 'contacts',
    contacts: [
      {
        name: { formattedName: form.name },
        phones: [{ phone: form.phone }],
        ...(form.email ? { emails: [{ email: form.email }] } : {}),
        ...(form.company ? { org: { company: form.company } } : {}),
      },
    ],
  })
  return (
    <form className="stack" onSubmit={submit(() => send(content()))}>
      <Input label={t('forms.name')} dir="auto" value={form.name} onChange={set('name')} wrong={wrong('contacts[0].name') ?? wrong('contacts[0].name.formattedName')} autoComplete="off" required />
      <Input label={t('forms.phone')} type="tel" value={form.phone} onChange={set('phone')} wrong={wrong('contacts[0].phones[0].phone')} autoComplete="off" required />
      <Input label={t('forms.email')} type="email" value={form.email} onChange={set('email')} wrong={wrong('contacts[0].emails[0].email')} autoComplete="off" />
      <Input label={t('forms.company')} dir="auto" value={form.company} onChange={set('company')} wrong={wrong('contacts[0].org.company')} autoComplete="off" />
      {children}
    </form>
  )
}

interface ChoicesProps {
  label: string
  values: string[]
  change: (next: string[]) => void
  most: number
  hint?: string
  wrong: (at: number) => string | undefined
  /** What is wrong with all of them together. */
  all: string | undefined
}

/** Choices are the choices of a question. */
function Choices({ label, values, change, most, hint, wrong, all }: ChoicesProps) {
  return (
    <fieldset className="plain stack tight">
      <legend className="hidden">{label}</legend>
      {values.map((value, at) => (
        <div key={at} className="row forms-choice">
          <div className="grow">
            <Input label={`${label} ${at + 1}`} dir="auto" value={value} onChange={(e) => change(values.map((other, i) => (i === at ? e.target.value : other)))} wrong={wrong(at)} required={at === 0} />
          </div>
          {values.length > 1 && <Button tone="quiet" icon="trash" label={t('forms.remove', { label, n: at + 1 })} onClick={() => change(values.filter((_, i) => i !== at))} />}
        </div>
      ))}
      {hint && <p className="small mute">{hint}</p>}
      {all && <Notice tone="bad">{all}</Notice>}
      {values.length < most && (
        <div>
          <Button icon="plus" onClick={() => change([...values, ''])}>
            {t('forms.add')}
          </Button>
        </div>
      )}
    </fieldset>
  )
}
