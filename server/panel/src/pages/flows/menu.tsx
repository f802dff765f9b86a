import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/parts'

export interface Item {
  label: string
  run: () => void
  bad?: boolean
}

/** Menu is a button that opens what can be done with a row, below it. */
export function Menu({ label, items }: { label: string; items: Item[] }) {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!open) return
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', away)
    document.addEventListener('focusin', away)
    return () => {
      document.removeEventListener('pointerdown', away)
      document.removeEventListener('focusin', away)
    }
  }, [open])
  return (
    <div
      className="menu-box"
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return
        event.stopPropagation()
        setOpen(false)
        box.current?.querySelector('button')?.focus()
      }}
    >
      <Button tone="quiet" icon="more" label={label} aria-expanded={open} onClick={() => setOpen(!open)} />
      {open && (
        <ul className="menu-list">
          {items.map((item) => (
            <li key={item.label}>
              <Button
                {...(item.bad ? { tone: 'bad' as const } : {})}
                onClick={() => {
                  setOpen(false)
                  item.run()
                }}
              >
                {item.label}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
