import { type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'

interface Options<T> {
  items: readonly T[]
  id: (item: T) => string
  /** What a row is high before it was measured, in pixels. */
  estimate: number
  row: (item: T, at: number) => ReactNode
  label: string
  className?: string
  /** Begin at the end and stay there while it is in sight, as threads do. */
  fromEnd?: boolean
  /** Called when what is before the first, or after the last row comes near. */
  nearStart?: () => void
  nearEnd?: () => void
  /** Show a row, or the end, once it is there; another object shows it again. */
  goTo?: { id: string | null } | undefined
  /** Called when the end comes in sight, or goes out of it. */
  atEnd?: (yes: boolean) => void
}

const overscan = 400

/**
 * Virtual draws only the rows that are in sight, however many there are. Rows
 * may differ in height: they are measured once drawn. What is read stays where
 * it is when rows before it come or change.
 */
export function Virtual<T>({ items, id, estimate, row, label, className, fromEnd, nearStart, nearEnd, goTo, atEnd }: Options<T>) {
  const box = useRef<HTMLDivElement>(null)
  const heights = useRef(new Map<string, number>())
  // What is known of the box. It is noted as it changes and never asked of the
  // page while that is being drawn: the browser would have to lay it out then.
  const [view, setView] = useState({ top: 0, height: 800 })
  const top = useRef(0)
  const [measured, setMeasured] = useState(0)
  const anchor = useRef<{ id: string; delta: number } | 'end'>(fromEnd ? 'end' : { id: '', delta: 0 })

  const offsets = useMemo(() => {
    const out = new Float64Array(items.length + 1)
    items.forEach((item, at) => {
      out[at + 1] = (out[at] ?? 0) + (heights.current.get(id(item)) ?? estimate)
    })
    return out
    // A new measurement moves what follows.
  }, [items, measured, estimate])
  const total = offsets[items.length] ?? 0
  const first = Math.max(0, upper(offsets, view.top - overscan) - 1)
  const last = Math.min(items.length, upper(offsets, view.top + view.height + overscan))

  /** remember notes which row is at the top, and how far into it. */
  const remember = (at: number, height: number) => {
    if (fromEnd && at + height >= total - 8) {
      anchor.current = 'end'
      return
    }
    const row = Math.max(0, upper(offsets, at) - 1)
    const item = items[row]
    if (item) anchor.current = { id: id(item), delta: at - (offsets[row] ?? 0) }
  }

  const gone = useRef<typeof goTo>(undefined)
  useLayoutEffect(() => {
    if (!goTo || goTo === gone.current) return
    if (goTo.id === null) anchor.current = 'end'
    else {
      const found = items.findIndex((item) => id(item) === goTo.id)
      if (found < 0) return
      anchor.current = { id: goTo.id, delta: -Math.round(view.height / 3) }
      top.current ||= 1 // what is at the very top follows what comes before it, unless it was asked for
    }
    gone.current = goTo
  }, [goTo, items])

  useLayoutEffect(() => {
    const at = anchor.current
    let wanted = top.current
    if (at === 'end') {
      wanted = Math.max(0, total - view.height)
    } else if (at.id && top.current > 0) {
      const found = items.findIndex((item) => id(item) === at.id)
      if (found >= 0) wanted = Math.max(0, (offsets[found] ?? 0) + at.delta)
    }
    const shift = wanted - top.current
    if (!box.current || Math.abs(shift) <= 1) return
    top.current = wanted
    // By, not to: somebody may be scrolling. At the end the browser itself has moved what became shorter.
    if (at === 'end') box.current.scrollTop = wanted
    else box.current.scrollTop += shift
    setView((before) => ({ ...before, top: wanted }))
  }, [offsets, view.height, goTo])

  const ended = useRef(true)
  useLayoutEffect(() => {
    const yes = anchor.current === 'end'
    if (yes !== ended.current) atEnd?.(yes)
    ended.current = yes
  })

  useLayoutEffect(() => {
    if (items.length === 0) return
    if (first <= 5) nearStart?.()
    if (last >= items.length - 5) nearEnd?.()
  }, [first, last, items.length])

  const sizes = useRef<ResizeObserver | null>(null)
  sizes.current ??= new ResizeObserver((entries) => {
    let changed = false
    for (const entry of entries) {
      if (entry.target === box.current) {
        const { height } = entry.contentRect
        setView((before) => ({ ...before, height }))
        continue
      }
      const key = (entry.target as HTMLElement).dataset.key ?? ''
      const height = (entry.target as HTMLElement).offsetHeight
      if (height > 0 && heights.current.get(key) !== height) {
        heights.current.set(key, height)
        changed = true
      }
    }
    if (changed) setMeasured((n) => n + 1)
  })
  const measure = useCallback((element: HTMLElement | null) => {
    if (!element) return
    const observer = sizes.current
    observer?.observe(element)
    return () => observer?.unobserve(element)
  }, [])

  useLayoutEffect(() => {
    if (box.current) sizes.current?.observe(box.current)
    return () => sizes.current?.disconnect()
  }, [])

  return (
    <div
      ref={box}
      className={`virtual ${className ?? ''}`}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={(event) => {
        const { scrollTop, clientHeight } = event.currentTarget
        if (Math.abs(scrollTop - top.current) <= 1) return // it was put there
        top.current = scrollTop
        remember(scrollTop, clientHeight)
        setView({ top: scrollTop, height: clientHeight })
      }}
    >
      <ul className="virtual-rows" style={{ height: total }}>
        {items.slice(first, last).map((item, i) => (
          <li key={id(item)} data-key={id(item)} ref={measure} aria-setsize={items.length} aria-posinset={first + i + 1} style={{ transform: `translateY(${offsets[first + i] ?? 0}px)` }}>
            {row(item, first + i)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** upper is the first place whose offset is beyond y. */
function upper(offsets: Float64Array, y: number): number {
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle] ?? 0) <= y) low = middle + 1
    else high = middle
  }
  return low
}
