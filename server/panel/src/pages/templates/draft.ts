import { type Part, type PartButton, partsOf, type Preview, shownOf, type Template, variables } from '../../ui/template/parts'

/** Limits of the network, in characters where nothing else is said. */
export const limits = { name: 512, header: 60, body: 1024, footer: 60, button: 25, url: 2000, phone: 20, buttons: 10, urls: 2, phones: 1 } as const

export const categories = ['UTILITY', 'MARKETING', 'AUTHENTICATION'] as const
export const headers = ['NONE', 'TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'] as const
export const buttonTypes = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE'] as const

export type Category = (typeof categories)[number]
export type Header = (typeof headers)[number]
export type ButtonType = (typeof buttonTypes)[number]

export interface DraftButton {
  type: ButtonType
  text: string
  /** Where it leads, which number it calls, or the code that it copies. */
  value: string
  example: string
}

/** Draft is a template while it is written. */
export interface Draft {
  name: string
  category: Category
  language: string
  named: boolean
  header: Header
  headerText: string
  /** Of an uploaded sample file. */
  handle: string
  body: string
  footer: string
  buttons: DraftButton[]
  /** A value for each variable: header.1, body.first_name. */
  examples: Record<string, string>
  /** Of an authentication. */
  advice: boolean
  minutes: string
  copy: string
}

export const blank: Draft = {
  name: '',
  category: 'UTILITY',
  language: 'en_US',
  named: false,
  header: 'NONE',
  headerText: '',
  handle: '',
  body: '',
  footer: '',
  buttons: [],
  examples: {},
  advice: true,
  minutes: '10',
  copy: '',
}

/** componentsOf is a draft as the network takes it. */
export function componentsOf(draft: Draft): Part[] {
  if (draft.category === 'AUTHENTICATION') return authentication(draft)
  const out: Part[] = []
  if (draft.header !== 'NONE') out.push(headerOf(draft))
  const names = variables(draft.body)
  out.push({ type: 'BODY', text: draft.body, ...(names.length ? { example: examples(draft, 'body', names) } : {}) })
  if (draft.footer) out.push({ type: 'FOOTER', text: draft.footer })
  if (draft.buttons.length) out.push({ type: 'BUTTONS', buttons: draft.buttons.map(buttonOf) })
  return out
}

function authentication(draft: Draft): Part[] {
  const minutes = Number(draft.minutes)
  return [
    { type: 'BODY', add_security_recommendation: draft.advice },
    ...(minutes > 0 ? [{ type: 'FOOTER', code_expiration_minutes: minutes }] : []),
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', ...(draft.copy ? { text: draft.copy } : {}) }] },
  ]
}

function headerOf(draft: Draft): Part {
  if (draft.header === 'LOCATION') return { type: 'HEADER', format: 'LOCATION' }
  if (draft.header !== 'TEXT') return { type: 'HEADER', format: draft.header, example: { header_handle: draft.handle ? [draft.handle] : [] } }
  const names = variables(draft.headerText)
  return { type: 'HEADER', format: 'TEXT', text: draft.headerText, ...(names.length ? { example: examples(draft, 'header', names) } : {}) }
}

/** examples are as many as there are variables, or none: one that is missing is asked for under its field. */
function examples(draft: Draft, part: 'header' | 'body', names: string[]): Record<string, unknown> {
  const values = names.map((name) => draft.examples[`${part}.${name}`]?.trim() ?? '')
  const whole = values.every(Boolean)
  if (draft.named) return { [part === 'header' ? 'header_text_named_params' : 'body_text_named_params']: whole ? names.map((name, at) => ({ param_name: name, example: values[at] })) : [] }
  if (part === 'header') return { header_text: whole ? values : [] }
  return { body_text: whole ? [values] : [] }
}

function buttonOf(button: DraftButton): PartButton {
  switch (button.type) {
    case 'URL':
      return { type: 'URL', text: button.text, url: button.value, ...(variables(button.value).length && button.example ? { example: [button.example] } : {}) }
    case 'PHONE_NUMBER':
      return { type: 'PHONE_NUMBER', text: button.text, phone_number: button.value }
    case 'COPY_CODE':
      return { type: 'COPY_CODE', example: [button.value] }
    case 'QUICK_REPLY':
      return { type: 'QUICK_REPLY', text: button.text }
  }
}

/** at is where a part stands in what the network gets: problems name it so. */
export function at(draft: Draft, kind: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS'): string {
  return `components[${componentsOf(draft).findIndex((part) => part.type === kind)}]`
}

/** draftShown is what a contact would see of a draft. The words of an authentication are the network's: these are its English ones. */
export function draftShown(draft: Draft): Preview {
  const values = { ...draft.examples, ...Object.fromEntries(draft.buttons.map((button, index) => [`button.${index}`, button.example])) }
  if (draft.category !== 'AUTHENTICATION') return shownOf({ category: draft.category, components: componentsOf(draft) }, values)
  const minutes = Number(draft.minutes)
  return {
    text: `*123456* is your verification code.${draft.advice ? ' For your security, do not share this code.' : ''}`,
    ...(minutes > 0 ? { footer: `This code expires in ${minutes} minutes.` } : {}),
    buttons: [{ type: 'OTP', text: draft.copy || 'Copy code' }],
  }
}

/** draftOf begins a draft with what another template has, as far as a draft can have it. */
export function draftOf(template: Pick<Template, 'name' | 'category' | 'language' | 'components'>): Draft {
  const draft: Draft = { ...blank, name: template.name, language: template.language, category: categories.find((one) => one === template.category) ?? 'UTILITY', examples: {} }
  for (const part of partsOf(template)) {
    switch (part.type.toUpperCase()) {
      case 'HEADER':
        draft.header = headers.find((one) => one === part.format?.toUpperCase()) ?? 'TEXT'
        draft.headerText = part.text ?? ''
        break
      case 'BODY':
        draft.body = part.text ?? ''
        draft.advice = part.add_security_recommendation ?? true
        break
      case 'FOOTER':
        draft.footer = part.text ?? ''
        draft.minutes = part.code_expiration_minutes ? String(part.code_expiration_minutes) : ''
        break
      case 'BUTTONS':
        draft.buttons = (part.buttons ?? []).flatMap(draftButton)
        draft.copy = part.buttons?.find((one) => one.type === 'OTP')?.text ?? ''
        break
    }
  }
  draft.named = [...variables(draft.body), ...variables(draft.headerText)].some((name) => !/^\d+$/.test(name))
  return draft
}

function draftButton(button: PartButton): DraftButton[] {
  const type = buttonTypes.find((one) => one === button.type.toUpperCase())
  if (!type) return []
  const example = (Array.isArray(button.example) ? button.example[0] : button.example) ?? ''
  return [{ type, text: button.text ?? '', value: (type === 'URL' ? button.url : type === 'PHONE_NUMBER' ? button.phone_number : type === 'COPY_CODE' ? example : '') ?? '', example: type === 'URL' ? example : '' }]
}

/** nextVariable is the variable that a text has not yet. */
export function nextVariable(text: string, named: boolean): string {
  const names = variables(text)
  for (let n = 1; ; n++) {
    const name = named ? `name_${n}` : String(n)
    if (!names.includes(name)) return `{{${name}}}`
  }
}

/** nameOf makes of what is typed a name that the network takes. */
export const nameOf = (typed: string) =>
  typed
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/[^a-z0-9_]/g, '')
    .slice(0, limits.name)
