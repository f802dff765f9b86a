import { type RefObject, useEffect, useRef } from 'react'

interface Acts {
  undo: () => void
  redo: () => void
  remove: () => void
  copy: () => string
  paste: (text: string) => boolean
  duplicate: () => void
  all: () => void
  none: () => void
  search: () => void
  inspect: (id: string) => void
  leave: () => void
}

/** typing says whether a key belongs to what has the focus. */
const typing = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** useKeys is all that the canvas does by keys. Those that take something away count only where it is drawn. */
export function useKeys(root: RefObject<HTMLElement | null>, acts: Acts) {
  const latest = useRef(acts)
  latest.current = acts
  useEffect(() => {
    const here = (target: EventTarget | null) => {
      if (document.querySelector('dialog[open]')) return false
      return target === document.body || target === root.current || (target instanceof HTMLElement && (target.matches('main') || target.closest('.react-flow') !== null))
    }
    const press = (event: KeyboardEvent) => {
      const act = latest.current
      const target = event.target as HTMLElement
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const inside = root.current?.contains(target) ?? false
      const control = event.ctrlKey || event.metaKey
      const key = event.key.toLowerCase()
      if (event.key === 'Escape' && inside && target.closest('.side')) act.leave()
      else if (typing(target)) return
      else if (control && key === 'z' && event.shiftKey) act.redo()
      else if (control && key === 'z') act.undo()
      else if (control && key === 'y') act.redo()
      else if (event.key === '/' && !control && !event.altKey) act.search()
      else if (!here(target)) return
      else if (control && key === 'a') act.all()
      else if (control && key === 'd') act.duplicate()
      else if (event.key === 'Delete' || event.key === 'Backspace') act.remove()
      else if (event.key === 'Enter' && target.matches('.react-flow__node')) act.inspect(target.dataset.id ?? '')
      else if (event.key === 'Escape') act.none()
      else return
      event.preventDefault()
    }
    const copy = (event: ClipboardEvent) => {
      if (typing(event.target) || !here(event.target) || !getSelection()?.isCollapsed) return
      const text = latest.current.copy()
      if (!text) return
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
      if (event.type === 'cut') latest.current.remove()
    }
    const paste = (event: ClipboardEvent) => {
      if (typing(event.target) || !here(event.target)) return
      if (latest.current.paste(event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault()
    }
    addEventListener('keydown', press)
    document.addEventListener('copy', copy)
    document.addEventListener('cut', copy)
    document.addEventListener('paste', paste)
    return () => {
      removeEventListener('keydown', press)
      document.removeEventListener('copy', copy)
      document.removeEventListener('cut', copy)
      document.removeEventListener('paste', paste)
    }
  }, [root])
}
