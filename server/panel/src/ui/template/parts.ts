import type { Schemas } from '../../api/client'

export type Template = Schemas['MessagingTemplate']
export type TemplateCall = Schemas['ProviderTemplateCall']
export type Preview = Schemas['MessagingTemplatePreview']

/** Part is one component of a template, as the network writes it; more members are kept and not read. */
export interface Part {
  type: string
  format?: string
  text?: string
  example?: Record<string, unknown>
  buttons?: PartButton[]
  add_security_recommendation?: boolean
  code_expiration_minutes?: number
}

export interface PartButton {
  type: string
  text?: string
  url?: string
  phone_number?: string
  example?: string[] | string
  otp_type?: string
}

/** Place is what a template leaves open: a variable, a file, the end of an address. */
export interface Place {
  key: string
  part: 'header' | 'body' | 'button'
  kind: 'text' | 'image' | 'video' | 'document' | 'location' | 'code'
  /** Its variable: 1, or first_name. */
  name: string
  /** The place of its button. */
  index?: number
  /** What stands on the button. */
  button?: string
  example: string
}

const variable = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** variables are the names in a text, each once. */
export function variables(text: string): string[] {
  return [...new Set([...text.matchAll(variable)].map((found) => found[1] ?? ''))]
}

/** fill puts values into a text; what has none stays as it is. */
export function fill(text: string, value: (name: string) => string | undefined): string {
  return text.replace(variable, (whole, name: string) => value(name) || whole)
}

export const partsOf = (template: { components: unknown[] }): Part[] => template.components.filter((one): one is Part => typeof one === 'object' && one !== null && typeof (one as Part).type === 'string')

const is = (word: string | undefined, kind: string) => word?.toUpperCase() === kind
const first = (value: unknown): string => (Array.isArray(value) ? first(value[0]) : typeof value === 'string' ? value : '')

/** exampleOf is the value that stands beside a variable in the template itself. */
function exampleOf(part: Part, name: string, at: number): string {
  const example = part.example ?? {}
  const head = is(part.type, 'HEADER')
  const named = example[head ? 'header_text_named_params' : 'body_text_named_params'] as { param_name?: string; example?: string }[] | undefined
  const byName = named?.find((one) => one.param_name === name)?.example
  if (byName) return byName
  const row = head ? example.header_text : (example.body_text as unknown[] | undefined)?.[0]
  return Array.isArray(row) ? first(row[at]) : ''
}

/** placesOf are what has to be filled in before a template is sent, in its order. */
export function placesOf(template: { components: unknown[]; category: string }): Place[] {
  const out: Place[] = []
  for (const part of partsOf(template)) {
    if (is(part.type, 'HEADER')) out.push(...headerPlaces(part))
    if (is(part.type, 'BODY')) {
      // The text of an authentication is the network's, and says the code.
      const names = !part.text && is(template.category, 'AUTHENTICATION') ? ['1'] : variables(part.text ?? '')
      names.forEach((name, at) => out.push({ key: `body.${name}`, part: 'body', kind: 'text', name, example: exampleOf(part, name, at) }))
    }
    if (is(part.type, 'BUTTONS')) part.buttons?.forEach((button, index) => out.push(...buttonPlaces(button, index)))
  }
  return out
}

function headerPlaces(part: Part): Place[] {
  const format = (part.format ?? 'TEXT').toUpperCase()
  if (format === 'TEXT') return variables(part.text ?? '').map((name, at) => ({ key: `header.${name}`, part: 'header', kind: 'text', name, example: exampleOf(part, name, at) }))
  const kinds: Record<string, Place['kind']> = { IMAGE: 'image', VIDEO: 'video', GIF: 'video', DOCUMENT: 'document', LOCATION: 'location' }
  const kind = kinds[format]
  return kind ? [{ key: 'header', part: 'header', kind, name: '', example: '' }] : []
}

function buttonPlaces(button: PartButton, index: number): Place[] {
  const place = { key: `button.${index}`, part: 'button' as const, index, button: button.text ?? '', name: '1', example: first(button.example) }
  if (is(button.type, 'COPY_CODE')) return [{ ...place, kind: 'code' }]
  if (is(button.type, 'OTP') || (is(button.type, 'URL') && variables(button.url ?? '').length > 0)) return [{ ...place, kind: 'text' }]
  return []
}

/** callOf is a template with its places filled, as a send has it. */
export function callOf(template: Pick<Template, 'name' | 'language'>, places: Place[], values: Record<string, string>): TemplateCall {
  const components: { type: string; sub_type?: string; index?: string; parameters: unknown[] }[] = []
  for (const place of places) {
    const value = values[place.key] ?? ''
    if (place.part === 'button') {
      const code = place.kind === 'code'
      components.push({ type: 'button', sub_type: code ? 'copy_code' : 'url', index: String(place.index), parameters: [code ? { type: 'coupon_code', coupon_code: value } : { type: 'text', text: value }] })
      continue
    }
    let component = components.find((one) => one.type === place.part)
    if (!component) components.push((component = { type: place.part, parameters: [] }))
    component.parameters.push(parameter(place, value))
  }
  return { name: template.name, language: { code: template.language }, components }
}

function parameter(place: Place, value: string): unknown {
  switch (place.kind) {
    case 'image':
    case 'video':
    case 'document':
      return { type: place.kind, [place.kind]: { link: value } }
    case 'location': {
      const [latitude = '', longitude = '', ...name] = value.split(',').map((part) => part.trim())
      return { type: 'location', location: { latitude: Number(latitude), longitude: Number(longitude), name: name.join(', ') } }
    }
    default:
      return { type: 'text', ...(/^\d+$/.test(place.name) ? {} : { parameter_name: place.name }), text: value }
  }
}

/** shownOf is what a contact would see, filled in here: of a template that cannot be sent the server shows nothing. */
export function shownOf(template: { components: unknown[]; category: string }, values: Record<string, string>): Preview {
  const out: Preview = { text: '' }
  for (const part of partsOf(template)) {
    const kind = part.type.toUpperCase()
    if (kind === 'HEADER') {
      const format = (part.format ?? 'TEXT').toUpperCase()
      out.header = format === 'TEXT' ? fill(part.text ?? '', (name) => values[`header.${name}`]) : values.header || format.toLowerCase()
    }
    if (kind === 'BODY') out.text = fill(part.text ?? '', (name) => values[`body.${name}`])
    if (kind === 'FOOTER' && part.text) out.footer = part.text
    if (kind === 'BUTTONS') {
      out.buttons = (part.buttons ?? []).map((button, index) => ({
        type: button.type.toUpperCase(),
        text: button.text ?? '',
        ...(button.url ? { url: fill(button.url, () => values[`button.${index}`]) } : {}),
      }))
    }
  }
  return out
}
