import type { Key } from '../text'
import type { IconName } from '../ui/icon'

export interface Place {
  path: string
  icon: IconName
  text: Key
  permission?: string
}

/** places are the pages of the menu, in its order. */
export const places: Place[] = [
  { path: '/', icon: 'home', text: 'nav.home' },
  { path: '/inbox', icon: 'inbox', text: 'nav.inbox', permission: 'chats.read' },
  { path: '/references', icon: 'line', text: 'nav.references', permission: 'references.read' },
  { path: '/templates', icon: 'template', text: 'nav.templates', permission: 'chats.read' },
  { path: '/flows', icon: 'flow', text: 'nav.flows' },
  { path: '/extractors', icon: 'extract', text: 'nav.extractors', permission: 'extractors.manage' },
  { path: '/runs', icon: 'run', text: 'nav.runs', permission: 'flows.manage' },
  { path: '/functions', icon: 'agent', text: 'nav.functions' },
  { path: '/webhooks', icon: 'webhook', text: 'nav.webhooks', permission: 'webhooks.manage' },
  { path: '/usage', icon: 'usage', text: 'nav.usage', permission: 'usage.read' },
  { path: '/settings', icon: 'settings', text: 'nav.settings' },
]
