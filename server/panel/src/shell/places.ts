import type { Key } from '../text'
import type { IconName } from '../ui/icon'

export interface Place {
  path: string
  icon: IconName
  text: Key
  permissions?: string[]
}

/** places are the pages of the menu, in its order. */
export const places: Place[] = [
  { path: '/', icon: 'home', text: 'nav.home' },
  { path: '/inbox', icon: 'inbox', text: 'nav.inbox', permissions: ['chats.read', 'references.read'] },
  { path: '/references', icon: 'reference', text: 'nav.references', permissions: ['references.read'] },
  { path: '/templates', icon: 'template', text: 'nav.templates', permissions: ['chats.read', 'references.read'] },
  { path: '/flows', icon: 'flow', text: 'nav.flows' },
  { path: '/extractors', icon: 'extract', text: 'nav.extractors', permissions: ['extractors.manage'] },
  { path: '/runs', icon: 'run', text: 'nav.runs', permissions: ['flows.manage'] },
  { path: '/functions', icon: 'agent', text: 'nav.functions' },
  { path: '/webhooks', icon: 'webhook', text: 'nav.webhooks', permissions: ['webhooks.manage'] },
  { path: '/usage', icon: 'usage', text: 'nav.usage', permissions: ['usage.read'] },
  { path: '/settings', icon: 'settings', text: 'nav.settings' },
]

/** mayGo says whether a user with these permissions has something to see there. */
export const mayGo = (place: Place, permissions: readonly string[]) => (place.permissions ?? []).every((one) => permissions.includes(one))
