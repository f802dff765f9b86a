import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react'
import { t } from '../../../text'
import { Icon } from '../../../ui/icon'
import { dragged } from './board'
import { useEditor } from './editor'
import { Sign } from './icons'
import { groupName, typeName } from './type-name'
import type { NodeType } from './types'

const order = ['talk', 'flow', 'data', 'ai']

/** found are the types that a search means, in their groups, and the best of them. */
function found(types: readonly NodeType[], search: string): { groups: [string, NodeType[]][]; best: NodeType | undefined } {
  const wish = search.trim().toLowerCase()
  const fit = types.filter((type) => [type.type, typeName(type.type), type.text].some((text) => text.toLowerCase().includes(wish)))
  // What is called so comes before what begins so, and that before what only tells of it.
  const rank = (type: NodeType) => Math.min(...[type.type, typeName(type.type).toLowerCase()].map((name) => (name === wish ? 0 : name.startsWith(wish) ? 1 : name.includes(wish) ? 2 : 3)))
  fit.sort((a, b) => rank(a) - rank(b))
  const names = [...new Set([...order, ...fit.map((type) => type.group)])]
  const groups = names.map((group): [string, NodeType[]] => [group, fit.filter((type) => type.group === group)])
  return { groups: groups.filter(([, all]) => all.length > 0), best: fit[0] }
}

/** Types offers the node types; Enter takes the first that is found. */
export function Types({ pick, search, drag, escape }: { pick: (type: string) => void; search: RefObject<HTMLInputElement | null>; drag?: boolean; escape?: () => void }) {
  const { offered } = useEditor()
  const [typed, type] = useState('')
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const { groups, best } = found(offered, typed)
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') {
      event.stopPropagation()
      if (typed) type('')
      else if (escape) escape()
      else (event.target as HTMLElement).blur()
    } else if (event.key === 'Enter' && event.target === search.current) {
      event.preventDefault()
      if (!best) return
      type('')
      pick(best.type)
    } else if (step) {
      event.preventDefault()
      const all = [search.current, ...(list.current?.querySelectorAll<HTMLElement>('button') ?? [])]
      const at = all.indexOf(document.activeElement as HTMLInputElement)
      all[Math.min(Math.max(at + step, 0), all.length - 1)]?.focus()
    }
  }
  return (
    <div className="types" onKeyDown={press}>
      <div className="types-search">
        <Icon name="search" size={16} />
        <input ref={search} className="input" type="search" aria-label={t('canvas.searchTypes')} placeholder={t('canvas.searchHint')} autoComplete="off" value={typed} onChange={(event) => type(event.target.value)} />
      </div>
      <div className="types-list" ref={list}>
        {groups.map(([group, all]) => (
          <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
            <h2 id={`${id}-${group}`}>{groupName(group)}</h2>
            {all.map((one) => (
              <button
                key={one.type}
                type="button"
                className={`type of-${one.group} ${typed && one === best ? 'best' : ''}`}
                title={one.text}
                draggable={drag}
                onDragStart={(event) => {
                  event.dataTransfer.setData(dragged, one.type)
                  event.dataTransfer.effectAllowed = 'copy'
                }}
                onClick={() => {
                  type('')
                  pick(one.type)
                }}
              >
                <span className="step-sign">
                  <Sign name={one.type} size={16} />
                </span>
                {typeName(one.type)}
              </button>
            ))}
          </div>
        ))}
        {groups.length === 0 && <p className="small mute">{t('canvas.noType')}</p>}
      </div>
    </div>
  )
}

/** Picker offers the node types at a place of the canvas. */
export function Picker({ at, pick, close }: { at: { x: number; y: number }; pick: (type: string) => void; close: () => void }) {
  const search = useRef<HTMLInputElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const before = useRef<Element | null>(null)
  useLayoutEffect(() => {
    before.current = document.activeElement
    search.current?.focus()
    const press = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Element)) close()
    }
    addEventListener('pointerdown', press, true)
    return () => removeEventListener('pointerdown', press, true)
  }, [])
  const escape = () => {
    close()
    if (before.current instanceof HTMLElement) before.current.focus()
  }
  // It stays within what is seen.
  useLayoutEffect(() => {
    const element = box.current
    const around = element?.offsetParent
    if (!element || !around) return
    const { width, height, left, top } = around.getBoundingClientRect()
    element.style.left = `${Math.max(8, Math.min(at.x - left, width - element.offsetWidth - 8))}px`
    element.style.top = `${Math.max(8, Math.min(at.y - top, height - element.offsetHeight - 8))}px`
  }, [at])
  return (
    <div className="picker" ref={box} role="dialog" aria-label={t('canvas.add')}>
      <Types pick={pick} search={search} escape={escape} />
    </div>
  )
}
