import { useReactFlow } from '@xyflow/react'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { t } from '../../../text'
import { Button } from '../../../ui/parts'
import { toast } from '../../../ui/toast'
import { Board, type Dropped, focusNode } from './board'
import './canvas.css'
import { addNode, connect, insert, place, remove } from './edit'
import { type Editor, EditorProvider } from './editor'
import { pointerOf, ports, read } from './flow'
import { History } from './history'
import { Sign } from './icons'
import type { Aim } from './inspector'
import { useKeys } from './keys'
import { arrange, complete, free, gap } from './layout'
import { useLists } from './lists'
import { Picker, Types } from './palette'
import { Problems } from './problems'
import { Several } from './side'
import { height, nodeWidth } from './size'
import type { CanvasProps, Document, FlowProblem, NodeType, Place } from './types'
import { paste, read as readClip, write as writeClip } from './clipboard'

const Inspector = lazy(() => import('./forms').then((forms) => ({ default: forms.Inspector })))
const Settings = lazy(() => import('./forms').then((forms) => ({ default: forms.Settings })))

/** Workbench is the drawing with all that is around it. */
export function Workbench({ document, change, problems, marks, node, select, palette, engine, project, owner, readOnly = false, history: kept }: CanvasProps) {
  const own = useRef<History>(null)
  own.current ??= new History()
  const history = kept ?? own.current
  const flowed = useReactFlow()
  const root = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const [aim, setAim] = useState<Aim | null>(null)
  const [picking, setPicking] = useState<{ screen: Place; at?: Place; from?: Dropped['from'] } | null>(null)
  const [settings, showSettings] = useState(false)

  const flow = useMemo(() => read(document), [document])
  const types = useMemo(() => new Map((palette.nodes ?? []).map((type) => [type.type, type])), [palette])
  const { lists, names } = useLists(project, owner, engine)
  const widthOf = useCallback(
    (id: string) => {
      const one = flow.nodes[id]
      return one ? nodeWidth(ports(one, types.get(one.type), names), one.next) : nodeWidth([])
    },
    [flow, types, names],
  )
  const places = useMemo(() => complete(flow, widthOf), [flow, widthOf])
  const offered = useMemo(() => (palette.nodes ?? []).filter((type) => fits(type, engine, flow.kind)), [palette, engine, flow.kind])
  const [chosen, setChosen] = useState<readonly string[]>(node ? [node] : [])

  const last = useRef(document)
  const mine = useRef(new WeakSet<Document>())
  useEffect(() => {
    if (mine.current.has(document)) return
    history.meet(document)
    last.current = document
  }, [document, history])

  const edit = useCallback(
    (next: Document, field = '') => {
      if (readOnly || next === last.current) return
      history.add(last.current, next, field)
      mine.current.add(next)
      last.current = next
      change(next)
    },
    [readOnly, history, change],
  )
  // The address says which node is selected, too. What it says is old when more
  // has been selected since.
  const asked = useRef<(string | null)[]>([node])
  const choose = useCallback(
    (ids: readonly string[]) => {
      setChosen(ids)
      setAim(null)
      if (ids.length > 0) showSettings(false)
      const one = ids.length === 1 ? (ids[0] ?? null) : null
      if (one !== asked.current.at(-1)) asked.current.push(one)
      select(one)
    },
    [select],
  )
  useEffect(() => {
    const at = asked.current.indexOf(node)
    if (at >= 0) {
      asked.current.splice(0, at)
      return
    }
    asked.current = [node]
    setChosen((before) => (node === null ? (before.length === 1 ? [] : before) : before.length === 1 && before[0] === node ? before : [node]))
  }, [node])

  /** back is where undo or redo leads. */
  const back = (to: Document | undefined) => {
    if (!to) return
    mine.current.add(to)
    last.current = to
    change(to)
  }
  const middle = (): Place => {
    const { left, top, width, height } = root.current?.querySelector('.react-flow')?.getBoundingClientRect() ?? new DOMRect()
    return flowed.screenToFlowPosition({ x: left + width / 2, y: top + height / 2 })
  }
  const add = (name: string, at?: Place, from?: Dropped['from']) => {
    const type = types.get(name)
    if (!type || readOnly) return
    const width = nodeWidth(ports({ type: name }, type))
    const above = from && !at ? places[from.node] : undefined
    const wish = at ?? (above ? { x: above.x + width / 2, y: above.y + height * 1.5 + gap.y } : middle())
    const stands = free({ x: wish.x - width / 2, y: wish.y - height / 2 }, width, places, widthOf)
    const added = addNode(place(document, places), type, stands)
    edit(from ? connect(added.document, from.node, from.output, added.id) : added.document)
    choose([added.id])
    focusNode(root.current, added.id)
    setPicking(null)
  }
  const act = {
    undo: () => back(readOnly ? undefined : history.undo(document)),
    redo: () => back(readOnly ? undefined : history.redo(document)),
    remove: (ids: readonly string[] = chosen) => {
      if (ids.length === 0) return
      edit(remove(place(document, places), ids))
      choose([])
      root.current?.focus()
    },
    copy: () => writeClip(document, chosen, places),
    paste: (text: string, at = middle()) => {
      const clip = readClip(text)
      if (!clip || readOnly) return false
      const done = paste(place(document, places), clip, at)
      edit(done.document)
      choose(done.ids)
      return true
    },
    duplicate: () => {
      const nodes = Object.fromEntries(chosen.flatMap((id) => (id in flow.nodes ? [[id, (document.nodes as Record<string, unknown>)[id]]] : [])))
      const where = Object.fromEntries(chosen.map((id) => [id, { x: (places[id]?.x ?? 0) + 32, y: (places[id]?.y ?? 0) + height + 24 }]))
      const done = insert(place(document, places), nodes, where)
      edit(done.document)
      choose(done.ids)
      if (done.ids[0]) focusNode(root.current, done.ids[0])
    },
    tidy: () => {
      edit(place(document, arrange(flow, widthOf)))
      requestAnimationFrame(() => void flowed.fitView({ padding: 0.15, maxZoom: 1 }))
    },
    all: () => choose(Object.keys(flow.nodes)),
    none: () => choose([]),
    search: () => {
      if (search.current?.offsetParent) search.current.focus()
      else openPicker()
    },
    inspect: (id: string) => {
      choose([id])
      setAim({ path: '' })
    },
    leave: () => {
      const [id] = chosen
      if (id) focusNode(root.current, id)
    },
  }
  const openPicker = () => {
    const { left, top, width } = root.current?.getBoundingClientRect() ?? new DOMRect()
    setPicking({ screen: { x: left + width / 2 - 120, y: top + 60 } })
  }
  useKeys(root, act)

  const openProblem = (problem: FlowProblem) => {
    choose([problem.nodeId])
    setAim({ path: pointerOf(problem) })
  }
  const copyOut = async () => {
    await navigator.clipboard.writeText(act.copy()).then(
      () => toast('ok', t('copied')),
      () => toast('bad', t('copyFailed')),
    )
  }
  useView(root, places, widthOf, chosen, flow.start ?? '')

  const removeEdges = useCallback((gone: { node: string; output: string }[]) => edit(gone.reduce((next, { node, output }) => connect(next, node, output, null), last.current)), [edit])
  const editor: Editor = { document, flow, places, types, offered, names, lists, readOnly, widthOf, edit, chosen, choose, add, problems, marks, engine }
  const one = chosen.length === 1 ? chosen[0] : undefined
  return (
    <EditorProvider value={editor}>
      <div className="canvas" ref={root} tabIndex={-1}>
        {!readOnly && (
          <div className="canvas-palette">
            <Types pick={add} search={search} drag />
          </div>
        )}
        <div className="canvas-board">
          <Board offer={setPicking} remove={removeEdges} />
          <div className="canvas-tools" role="toolbar" aria-label={t('canvas.tools')}>
            {!readOnly && (
              <>
                <span className="canvas-add">
                  <Button icon="plus" tone="main" label={t('canvas.add')} onClick={openPicker} />
                </span>
                <Button tone="quiet" icon="undo" label={t('canvas.undo')} disabled={!history.canUndo} onClick={act.undo} />
                <Button tone="quiet" icon="redo" label={t('canvas.redo')} disabled={!history.canRedo} onClick={act.redo} />
                <Tool sign="tidy" label={t('canvas.tidy')} run={act.tidy} />
              </>
            )}
            <Tool sign="smaller" label={t('canvas.smaller')} run={() => void flowed.zoomOut()} />
            <Tool sign="bigger" label={t('canvas.bigger')} run={() => void flowed.zoomIn()} />
            <Tool sign="fit" label={t('canvas.fit')} run={() => void flowed.fitView({ padding: 0.1, maxZoom: 1 })} />
            <Button tone="quiet" icon="settings" label={t('canvas.settings')} aria-expanded={settings} onClick={() => (choose([]), showSettings(!settings))} />
          </div>
          <Problems open={openProblem} />
          {Object.keys(flow.nodes).length === 0 && <p className="canvas-empty">{t('canvas.empty')}</p>}
        </div>
        <Suspense>
          {one && flow.nodes[one] && (
            <Inspector
              key={one}
              id={one}
              aim={aim}
              close={() => (act.leave(), choose([]))}
              remove={() => act.remove()}
              duplicate={act.duplicate}
              create={(output, near) => {
                const { left, bottom } = near.getBoundingClientRect()
                setPicking({ screen: { x: left - 200, y: bottom + 4 }, from: { node: one, output } })
              }}
            />
          )}
          {chosen.length > 1 && <Several nodes={chosen.map((id) => [id, flow.nodes[id]])} close={act.none} copy={() => void copyOut()} duplicate={act.duplicate} remove={() => act.remove()} />}
          {settings && chosen.length === 0 && <Settings close={() => showSettings(false)} />}
        </Suspense>
        {picking && <Picker at={picking.screen} pick={(type) => add(type, picking.at, picking.from)} close={() => setPicking(null)} />}
      </div>
    </EditorProvider>
  )
}

function Tool({ sign, label, run }: { sign: string; label: string; run: () => void }) {
  return (
    <button type="button" className="button quiet square" aria-label={label} title={label} onClick={run}>
      <Sign name={sign} />
    </button>
  )
}

/** fits says whether a document can have nodes of a type. */
function fits(type: NodeType, engine: string, kind: string | undefined): boolean {
  if (!(type.engines ?? []).includes(engine)) return false
  return kind === 'function' ? type.type !== 'trigger' : type.type !== 'return'
}

/** useView shows the whole flow at first, or where it starts when that would be too small; then whatever is selected. */
function useView(root: React.RefObject<HTMLElement | null>, places: Record<string, Place>, widthOf: (id: string) => number, chosen: readonly string[], start: string) {
  const { getViewport, setViewport, viewportInitialized } = useReactFlow()
  const board = () => root.current?.querySelector('.react-flow')?.getBoundingClientRect()
  const shown = useRef(false)
  const latest = useRef({ places, widthOf })
  latest.current = { places, widthOf }
  useEffect(() => {
    const area = board()
    const all = Object.entries(places)
    if (shown.current || !viewportInitialized || !area || all.length === 0) return
    shown.current = true
    const left = Math.min(...all.map(([, at]) => at.x))
    const top = Math.min(...all.map(([, at]) => at.y))
    const width = Math.max(...all.map(([id, at]) => at.x + widthOf(id))) - left
    const tall = Math.max(...all.map(([, at]) => at.y)) + height - top
    const zoom = Math.min(1, (area.width - 80) / width, (area.height - 120) / tall)
    const first = places[start] ?? all[0]?.[1] ?? { x: 0, y: 0 }
    if (zoom >= 0.65) void setViewport({ zoom, x: (area.width - width * zoom) / 2 - left * zoom, y: Math.max(72, (area.height - tall * zoom) / 2) - top * zoom })
    else void setViewport({ zoom: 0.8, x: area.width / 2 - (first.x + widthOf(start) / 2) * 0.8, y: 80 - first.y * 0.8 })
  }, [viewportInitialized, places])
  const one = chosen.length === 1 ? chosen[0] : undefined
  useEffect(() => {
    if (!one || !viewportInitialized) return
    // The inspector takes its place first.
    const frame = requestAnimationFrame(() => {
      const area = board()
      const at = latest.current.places[one]
      if (!area || !at) return
      const { x, y, zoom } = getViewport()
      const width = latest.current.widthOf(one)
      const box = { left: at.x * zoom + x, top: at.y * zoom + y, right: (at.x + width) * zoom + x, bottom: (at.y + height) * zoom + y }
      const by = (low: number, high: number, from: number, to: number) => (low < from ? from - low : high > to ? Math.max(to - high, from - low) : 0)
      const [dx, dy] = [by(box.left, box.right, 16, area.width - 16), by(box.top, box.bottom, 64, area.height - 24)]
      if (dx !== 0 || dy !== 0) void setViewport({ zoom, x: x + dx, y: y + dy })
    })
    return () => cancelAnimationFrame(frame)
  }, [one, viewportInitialized])
}
