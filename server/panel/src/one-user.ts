import { root } from './api/client'

/**
 * oneUser tells the other tabs of this server who uses this one, and calls back when another is used by somebody else: they
 * share a session, so what this one shows is of the one and what it does is done by the other. It returns what ends that.
 */
export function oneUser(id: string, changed: () => void): () => void {
  const others = new BroadcastChannel(`trunkline-user ${root}`)
  others.onmessage = (event: MessageEvent<string>) => {
    if (event.data !== id) changed()
  }
  others.postMessage(id)
  return () => others.close()
}

const stored = 'trunkline.user'

/** forgetOthers drops what another user has typed in this tab, and says whether there was another. */
export function forgetOthers(id: string): boolean {
  const before = sessionStorage.getItem(stored)
  const other = before !== null && before !== id
  if (other) sessionStorage.clear()
  sessionStorage.setItem(stored, id)
  return other
}
