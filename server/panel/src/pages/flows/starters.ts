import type { Key } from '../../text'
import { t } from '../../text'
import { type Document, slugOf } from './engine'

/** Starter is a flow to begin with; both engines run it as it is. */
export interface Starter {
  id: 'menu' | 'lead' | 'hours'
  make: (name: string) => Document
}

const frame = (name: string, rest: Document): Document => ({
  format: 'trunkline-flow/1',
  kind: 'flow',
  slug: slugOf(name),
  name: [...name].slice(0, 128).join(''),
  start: 'start',
  ...rest,
})
const start = (next: string) => ({ type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: next } })
const say = (text: Key) => ({ type: 'message', config: { text: t(text) } })
const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** menu welcomes with buttons and hands over to a person. */
function menu(name: string): Document {
  const choices = (['price', 'hours', 'person'] as const).map((id) => ({ id, title: t(`starter.${id}`) }))
  return frame(name, {
    nodes: {
      start: start('welcome'),
      welcome: {
        type: 'question',
        config: { prompt: { kind: 'buttons', text: t('starter.welcome'), buttons: choices }, expect: 'choice', choices },
        next: { 'choice:price': 'prices', 'choice:hours': 'hours', 'choice:person': 'person' },
      },
      prices: say('starter.prices'),
      hours: say('starter.open'),
      person: { type: 'handoff', config: { target: 'team', message: { text: t('starter.coming') } } },
    },
  })
}

/** lead asks for a name and an e-mail, keeps them, and tells the webhooks. */
function lead(name: string): Document {
  return frame(name, {
    variables: { name: { type: 'string' }, email: { type: 'string' } },
    nodes: {
      start: start('name'),
      name: { type: 'question', config: { prompt: { text: t('starter.askName') }, expect: 'text', max: 80, saveTo: 'name' }, next: { out: 'email' } },
      email: { type: 'question', config: { prompt: { text: t('starter.askEmail') }, expect: 'email', retryMessage: t('starter.badEmail'), saveTo: 'email' }, next: { out: 'keep' } },
      keep: {
        type: 'contact',
        config: {
          ops: [
            { op: 'set_field', name: 'email', value: '{{ vars.email }}' },
            { op: 'add_tag', value: 'lead' },
          ],
        },
        next: { out: 'tell' },
      },
      tell: { type: 'event', config: { name: 'lead', data: { name: '{{ vars.name }}', email: '{{ vars.email }}' } }, next: { out: 'thanks' } },
      thanks: say('starter.thanks'),
    },
  })
}

/** hours answers by the clock. */
function hours(name: string): Document {
  const open = "datePart(now, 'weekday') <= 5 && datePart(now, 'hour') >= 9 && datePart(now, 'hour') < 18"
  return frame(name, {
    settings: { timezone: zone() },
    variables: { wish: { type: 'string' } },
    nodes: {
      start: start('clock'),
      clock: { type: 'condition', config: { branches: [{ id: 'open', when: open }] }, next: { open: 'here', else: 'closed' } },
      here: { type: 'handoff', config: { target: 'team', message: { text: t('starter.coming') } } },
      closed: { type: 'question', config: { prompt: { text: t('starter.closed') }, expect: 'text', saveTo: 'wish' }, next: { out: 'left' } },
      left: { type: 'event', config: { name: 'message_left', data: { text: '{{ vars.wish }}' } }, next: { out: 'noted' } },
      noted: say('starter.noted'),
    },
  })
}

/** blankFunction is a function that returns at once. */
export const blankFunction = (name: string): Document => ({ ...frame(name, { nodes: { start: { type: 'return' } } }), kind: 'function' })

export const starters: Starter[] = [
  { id: 'menu', make: menu },
  { id: 'lead', make: lead },
  { id: 'hours', make: hours },
]
