import { Background, BackgroundVariant, MiniMap, type NodeChange, Position, ReactFlow, type ReactFlowProps, useReactFlow } from '@xyflow/react'
import { type DragEvent, memo, useCallback, useMemo, useRef, useState } from 'react'
import { t } from '../../../text'
import { isRecord } from '../../../ui/schema-form/schema'
import { connect, place } from './edit'
import { type FlowEdge, Way } from './edge'
import { useEditor } from './editor'
import { bodies, edges as edgesOf, frameOf, type Port, ports, title } from './flow'
import { Frames } from './frames'
import { type Box, type Line, lanes } from './route'
import { Step, type StepData, type StepNode } from './node'
import { height, nodeWidth, portWidth } from './size'
import { summary } from './summary'
import { typeName } from './type-name'
import { edgeId, type Place } from './types'

const nodeTypes = { step: Step }
const edgeTypes = { flow: Way }
export const dragged = 'application/x-trunkline-node'

/** Where an edge was dropped on nothing: on the screen, and on the canvas. */
export interface Dropped {
  screen: Place
  at: Place
  from: { node: string; output: string }
}

/** Board is the drawing: nodes and edges that can be moved and connected. */
export const Board = memo(function Board({ offer, remove }: { offer: (dropped: Dropped) => void; remove: (edges: { node: string; output: string }[]) => void }) {
  const editor = useEditor()
  const { document, places, edit, choose, readOnly, add } = editor
  const { screenToFlowPosition } = useReactFlow()
  // Where nodes are while they are being moved; the document takes it when they stand.
  const [moving, setMoving] = useState<Record<string, Place>>({})
  const hand = useRef(false)
  const nodes = useNodes(moving)
  const edges = useEdges()
  const chosen = useRef(editor.chosen)
  chosen.current = editor.chosen
  const [chosenEdge, chooseEdge] = useState('')

  const drawnEdges = useMemo(() => edges.map((edge) => (edge.id === chosenEdge ? { ...edge, selected: true } : edge)), [edges, chosenEdge])

  const onNodesChange = useCallback(
    (changes: NodeChange<StepNode>[]) => {
      const moved: Record<string, Place> = {}
      let standing = false
      const selected = new Set(chosen.current)
      let selecting = false
      for (const change of changes) {
        if (change.type === 'position' && change.position) {
          moved[change.id] = change.position
          if (change.dragging) hand.current = true
          else standing = true
        }
        if (change.type === 'select') {
          selecting = true
          if (change.selected) selected.add(change.id)
          else selected.delete(change.id)
        }
      }
      if (selecting) {
        chosen.current = [...selected]
        choose(chosen.current)
      }
      if (Object.keys(moved).length === 0) return
      if (!standing) {
        setMoving((before) => ({ ...before, ...moved }))
        return
      }
      setMoving({})
      const real = Object.entries(moved).some(([id, at]) => Math.round(at.x) !== places[id]?.x || Math.round(at.y) !== places[id]?.y)
      // Arrow keys move step by step: what follows at once is one step of undo.
      if (real) edit(place(document, { ...places, ...moved }), hand.current ? '' : `move ${Object.keys(moved).join(' ')}`)
      hand.current = false
    },
    [document, places, edit, choose],
  )

  const onConnect: NonNullable<ReactFlowProps['onConnect']> = ({ source, sourceHandle, target }) => {
    if (sourceHandle) edit(connect(document, source, sourceHandle, target))
  }
  const onConnectEnd: NonNullable<ReactFlowProps['onConnectEnd']> = (event, state) => {
    const node = state.fromNode?.id
    const output = state.fromHandle?.id
    if (state.isValid || !node || !output) return
    const { clientX: x, clientY: y } = 'changedTouches' in event ? (event.changedTouches[0] ?? { clientX: 0, clientY: 0 }) : event
    // Anywhere on a node is as good as its upper end.
    const over = window.document.elementFromPoint(x, y)
    const target = over?.closest<HTMLElement>('.react-flow__node')?.dataset.id
    const type = target ? editor.flow.nodes[target]?.type : undefined
    if (target && type && enters(type)) edit(connect(document, node, output, target))
    else if (!target && over?.closest('.react-flow__pane')) offer({ screen: { x, y }, at: screenToFlowPosition({ x, y }), from: { node, output } })
  }
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(dragged)
    if (!type) return
    event.preventDefault()
    add(type, screenToFlowPosition({ x: event.clientX, y: event.clientY }))
  }
  return (
    <ReactFlow<StepNode, FlowEdge>
      aria-label={t('canvas.drawing')}
      nodes={nodes}
      edges={drawnEdges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      onNodesChange={onNodesChange}
      onEdgesChange={(changes) => changes.forEach((change) => change.type === 'select' && chooseEdge(change.selected ? change.id : ''))}
      onConnect={onConnect}
      onConnectEnd={onConnectEnd}
      onReconnect={(old, { source, sourceHandle, target }) => {
        if (sourceHandle) edit(connect(connect(document, old.source, old.sourceHandle ?? '', null), source, sourceHandle, target))
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
      onKeyDown={(event) => {
        const edge = edges.find((one) => one.id === chosenEdge)
        if (edge && (event.key === 'Delete' || event.key === 'Backspace') && !readOnly) {
          event.stopPropagation()
          chooseEdge('')
          remove([{ node: edge.source, output: edge.sourceHandle ?? '' }])
        }
      }}
      nodesDraggable={!readOnly}
      nodesConnectable={!readOnly}
      edgesReconnectable={!readOnly}
      edgesFocusable={false}
      deleteKeyCode={null}
      multiSelectionKeyCode={['Control', 'Meta']}
      panOnScroll
      minZoom={0.05}
      maxZoom={1.5}
      zoomOnDoubleClick={false}
      connectionRadius={32}
      nodeDragThreshold={2}
      ariaLabelConfig={{
        'node.a11yDescription.default': t('canvas.nodeKeys'),
        'node.a11yDescription.keyboardDisabled': t('canvas.nodeKeys'),
        'node.a11yDescription.ariaLiveMessage': () => t('canvas.moved'),
        'minimap.ariaLabel': t('canvas.map'),
      }}
    >
      <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} />
      <Frames flow={editor.flow} />
      {nodes.length > 12 && <MiniMap<StepNode> pannable zoomable nodeClassName={(node) => `of-${node.data.group}`} nodeBorderRadius={8} />}
    </ReactFlow>
  )
})

/** enters says whether an edge may lead to nodes of a type. */
const enters = (type: string) => type !== 'trigger' && type !== 'note'

/** useNodes are the nodes as the library draws them; those that did not change are the same objects. */
function useNodes(moving: Record<string, Place>): StepNode[] {
  const editor = useEditor()
  const { flow, places, types, names, problems, marks, chosen, readOnly } = editor
  const data = useData()
  const before = useRef(new Map<string, StepNode>())
  return useMemo(() => {
    const next = new Map<string, StepNode>()
    const selected = new Set(chosen)
    for (const id of Object.keys(flow.nodes)) {
      const known = before.current.get(id)
      const position = moving[id] ?? places[id] ?? { x: 0, y: 0 }
      const own = data.get(id)
      if (!own) continue
      const is = selected.has(id)
      if (known && known.data === own && known.selected === is && known.position.x === position.x && known.position.y === position.y) next.set(id, known)
      else next.set(id, drawn(id, own, position, is))
    }
    before.current = next
    return [...next.values()]
  }, [flow, places, types, names, problems, marks, chosen, readOnly, data, moving])
}

function drawn(id: string, data: StepData, position: Place, selected: boolean): StepNode {
  const width = nodeWidth(data.ports, data.next)
  const handles: StepNode['handles'] = outlets(data.ports, data.next, width).map(({ output, x, width }) => ({ id: output, type: 'source', position: Position.Bottom, x, y: height - 22, width, height: 22 }))
  if (data.enters) handles.push({ id: 'in', type: 'target', position: Position.Top, x: width / 2 - 5, y: -5, width: 10, height: 10 })
  const label = [typeName(data.type), data.title, data.summary, data.errors > 0 && t('canvas.errors', { n: data.errors }), data.mark && t(`canvas.${data.mark.state}`)].filter(Boolean).join(', ')
  return { id, type: 'step', position, data, width, height, measured: { width, height }, handles, selected, ariaLabel: label }
}

/** outlets are where outputs stand along the lower end of a node. */
function outlets(all: readonly Port[], next: Record<string, string>, width: number) {
  const widths = all.map((port) => portWidth(port, port.output in next))
  let x = (width - widths.reduce((sum, one) => sum + one, 0)) / 2
  return all.map((port, at) => {
    const own = widths[at] ?? 0
    x += own
    return { output: port.output, x: x - own, width: own }
  })
}

/** useData is what is drawn of each node, the same object as long as it says the same. */
function useData(): Map<string, StepData> {
  const { flow, types, names, problems, marks } = useEditor()
  const before = useRef(new Map<string, { of: unknown[]; data: StepData }>())
  return useMemo(() => {
    const count = new Map<string, { errors: number; warnings: number }>()
    for (const { nodeId, severity } of problems) {
      const own = count.get(nodeId) ?? { errors: 0, warnings: 0 }
      count.set(nodeId, severity === 'error' ? { ...own, errors: own.errors + 1 } : { ...own, warnings: own.warnings + 1 })
    }
    const onError = isRecord(flow.settings) ? flow.settings.onError : undefined
    const next = new Map<string, { of: unknown[]; data: StepData }>()
    for (const [id, node] of Object.entries(flow.nodes)) {
      const type = types.get(node.type)
      const found = ports(node, type, names)
      const { errors, warnings } = count.get(id) ?? { errors: 0, warnings: 0 }
      const mark = marks?.nodes[id]
      const of = [node, type, found.map((port) => port.output).join(' '), errors, warnings, mark?.state, mark?.times, mark?.current, flow.start === id, onError === id]
      const known = before.current.get(id)
      if (known?.of.every((value, at) => value === of[at])) {
        next.set(id, known)
        continue
      }
      const data: StepData = {
        title: title(id, node),
        type: node.type,
        group: type?.group ?? 'flow',
        summary: summary(node),
        ports: found,
        next: node.next ?? {},
        disabled: node.disabled ?? false,
        start: flow.start === id && node.type !== 'trigger',
        onError: onError === id,
        enters: enters(node.type),
        errors,
        warnings,
        mark,
      }
      next.set(id, { of, data })
    }
    before.current = next
    return new Map([...next].map(([id, { data }]) => [id, data]))
  }, [flow, types, names, problems, marks])
}

/** useEdges are the edges as the library draws them; those that did not change are the same objects. */
function useEdges(): FlowEdge[] {
  const { flow, types, names, marks, places } = useEditor()
  const before = useRef(new Map<string, { of: string; edge: FlowEdge }>())
  return useMemo(() => {
    const boxes = new Map<string, Box>()
    const ends = new Map<string, Place>()
    const side = new Set<string>()
    for (const [id, node] of Object.entries(flow.nodes)) {
      const { x, y } = places[id] ?? { x: 0, y: 0 }
      const found = ports(node, types.get(node.type), names)
      const width = nodeWidth(found, node.next)
      boxes.set(id, { x, y, width, height })
      for (const outlet of outlets(found, node.next ?? {}, width)) ends.set(edgeId(id, outlet.output), { x: x + outlet.x + outlet.width / 2, y: y + height })
      for (const port of found) if (port.side) side.add(edgeId(id, port.output))
    }
    const all = edgesOf(flow)
    const lines = all.map(({ id, from, to }): Line => {
      const target = boxes.get(to) ?? { x: 0, y: 0, width: 0 }
      return { from: ends.get(id) ?? { x: 0, y: 0 }, to: { x: target.x + target.width / 2, y: target.y }, ends: [from, to] }
    })
    for (const { loop, nodes } of bodies(flow)) {
      const frame = frameOf(nodes.flatMap((id) => boxes.get(id) ?? []))
      if (frame) boxes.set(`${loop}:`, { ...frame, holds: new Set(nodes) })
    }
    const found = lanes(lines, boxes)
    const next = new Map<string, { of: string; edge: FlowEdge }>()
    all.forEach(({ id, from, output, to }, at) => {
      const line = lines[at]
      if (!line) return
      const data = { line, lane: found[at], side: side.has(id), mark: marks?.edges[id] }
      const of = JSON.stringify([to, data])
      const known = before.current.get(id)
      next.set(id, known?.of === of ? known : { of, edge: { id, type: 'flow', source: from, sourceHandle: output, target: to, targetHandle: 'in', data } })
    })
    before.current = next
    return [...next.values()].map(({ edge }) => edge)
  }, [flow, types, names, marks, places])
}

/** focusNode gives the focus to a node as soon as it is drawn, unless it has gone elsewhere since. */
export function focusNode(root: HTMLElement | null, id: string) {
  const before = document.activeElement
  const look = (frames: number) => {
    const now = document.activeElement
    if (now !== before && now !== document.body && now !== root) return
    const node = root?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)
    if (node) node.focus()
    else if (frames > 0) requestAnimationFrame(() => look(frames - 1))
  }
  requestAnimationFrame(() => look(30))
}
