import { useSyncExternalStore } from 'react'

interface Toast {
  id: number
  tone: 'ok' | 'bad'
  text: string
}

let toasts: Toast[] = []
let last = 0
const watchers = new Set<() => void>()

function set(next: Toast[]) {
  toasts = next
  watchers.forEach((tell) => tell())
}

/** toast says in a corner what came of something, for a while. */
export function toast(tone: Toast['tone'], text: string) {
  const id = ++last
  set([...toasts, { id, tone, text }].slice(-3))
  setTimeout(() => set(toasts.filter((one) => one.id !== id)), tone === 'bad' ? 9_000 : 4_000)
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (tell) => {
      watchers.add(tell)
      return () => watchers.delete(tell)
    },
    () => toasts,
  )
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((one) => (
        <div key={one.id} className={`notice ${one.tone}`}>
          {one.text}
        </div>
      ))}
    </div>
  )
}
