import { bodies, type Edge, edges } from './flow'
import { height } from './size'
import type { Flow, Place } from './types'

/** What stays free between nodes. */
export const gap = { x: 40, y: 52 }
/** What an edge takes that passes nodes by. */
const lane = 28
const sweeps = 12

/** Box is what the layout places: a node, or an edge on its way past other nodes. */
interface Box {
  id: string
  width: number
  layer: number
  x: number
  up: Box[]
  down: Box[]
}

/**
 * arrange gives every node a place: from the top to the bottom in layers, what
 * belongs together below each other, so that no two nodes overlap. What follows
 * a loop stands below all that it repeats. Parts that nothing connects stand
 * beside each other.
 */
export function arrange(flow: Flow, widthOf: (id: string) => number): Record<string, Place> {
  const found: Record<string, Place> = {}
  let left = 0
  const single: string[] = []
  for (const part of parts(flow)) {
    if (part.length === 1 && left > 0) {
      single.push(...part)
      continue
    }
    const boxes = arrangePart(flow, part, widthOf)
    const from = Math.min(...boxes.map((box) => box.x - box.width / 2))
    for (const box of boxes) {
      if (box.id in flow.nodes) found[box.id] = { x: Math.round(left + box.x - box.width / 2 - from), y: box.layer * (height + gap.y) }
    }
    left += Math.max(...boxes.map((box) => box.x + box.width / 2)) - from + gap.x * 2
  }
  // Nodes that stand alone share columns.
  const rows = Math.max(4, Math.ceil(Math.sqrt(single.length)))
  for (let at = 0; at < single.length; at += rows) {
    const column = single.slice(at, at + rows)
    column.forEach((id, row) => (found[id] = { x: Math.round(left), y: row * (height + gap.y) }))
    left += Math.max(...column.map(widthOf)) + gap.x
  }
  return found
}

/** parts are the nodes that edges connect, that of the start first. */
function parts(flow: Flow): string[][] {
  const beside = new Map<string, string[]>(Object.keys(flow.nodes).map((id) => [id, []]))
  for (const { from, to } of edges(flow)) {
    beside.get(from)?.push(to)
    beside.get(to)?.push(from)
  }
  const seen = new Set<string>()
  const all: string[][] = []
  for (const first of [flow.start ?? '', ...beside.keys()]) {
    if (seen.has(first) || !beside.has(first)) continue
    const part: string[] = []
    const open = [first]
    seen.add(first)
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      part.push(id)
      for (const other of beside.get(id) ?? []) {
        if (!seen.has(other)) open.push(other)
        seen.add(other)
      }
    }
    all.push(part)
  }
  return all
}

function arrangePart(flow: Flow, part: readonly string[], widthOf: (id: string) => number): Box[] {
  const within = new Set(part)
  const { order, forward } = walk(flow, part, edges(flow).filter((edge) => within.has(edge.from)))
  const layer = layers(order, [...forward, ...afterBodies(flow, order, forward)])
  const layered: Box[][] = []
  const put = (id: string, width: number, at: number): Box => {
    const box: Box = { id, width, layer: at, x: 0, up: [], down: [] }
    ;(layered[at] ??= []).push(box)
    return box
  }
  const boxes = new Map(order.map((id) => [id, put(id, widthOf(id), layer.get(id) ?? 0)]))
  for (const { id, from, to } of forward) {
    const last = boxes.get(to)
    let above = boxes.get(from)
    if (!above || !last) continue
    for (let at = above.layer + 1; at <= last.layer; at++) {
      const next: Box = at === last.layer ? last : put(id, lane, at)
      above.down.push(next)
      next.up.push(above)
      above = next
    }
  }
  sortLayers(layered)
  spread(layered)
  return layered.flat()
}

/** walk is the nodes of a part in the order of their outputs, and the edges that do not lead back. */
function walk(flow: Flow, part: readonly string[], all: readonly Edge[]): { order: string[]; forward: Edge[] } {
  const out = new Map<string, Edge[]>()
  const entered = new Set<string>()
  for (const edge of all) {
    out.set(edge.from, [...(out.get(edge.from) ?? []), edge])
    entered.add(edge.to)
  }
  const state = new Map<string, 'open' | 'done'>()
  const order: string[] = []
  const forward: Edge[] = []
  const first = [...part].sort((a, b) => rank(b) - rank(a))
  function rank(id: string) {
    return id === flow.start ? 2 : entered.has(id) ? 0 : 1
  }
  for (const root of first) {
    if (state.has(root)) continue
    const stack: { id: string; at: number }[] = [{ id: root, at: 0 }]
    state.set(root, 'open')
    order.push(root)
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = out.get(top.id)?.[top.at++]
      if (!edge) {
        state.set(top.id, 'done')
        stack.pop()
        continue
      }
      const known = state.get(edge.to)
      if (known !== 'open') forward.push(edge)
      if (known) continue
      state.set(edge.to, 'open')
      order.push(edge.to)
      stack.push({ id: edge.to, at: 0 })
    }
  }
  return { order, forward }
}

type Pair = Pick<Edge, 'from' | 'to'>

/** afterBodies has what follows a loop stand below its body: the ends of the body come before it. */
function afterBodies(flow: Flow, order: readonly string[], forward: readonly Edge[]): Pair[] {
  const at = new Map(order.map((id, n) => [id, n]))
  const down = new Map<string, string[]>()
  const lead = (from: string, to: string) => down.set(from, [...(down.get(from) ?? []), to])
  for (const { from, to } of forward) lead(from, to)
  const leads = (from: string, to: string) => {
    const seen = new Set<string>()
    const open = [from]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === to) return true
      if (seen.has(id)) continue
      seen.add(id)
      open.push(...(down.get(id) ?? []))
    }
    return false
  }
  const pairs: Pair[] = []
  for (const { loop, nodes } of bodies(flow)) {
    if (!at.has(loop)) continue
    const own = new Set(nodes)
    const ends = nodes.filter((id) => at.has(id) && !(down.get(id) ?? []).some((to) => own.has(to)))
    const after = Object.entries(flow.nodes[loop]?.next ?? {}).filter(([output, to]) => output !== 'body' && at.has(to) && !own.has(to))
    for (const [, to] of after) {
      for (const from of ends) {
        if (leads(to, from)) continue
        pairs.push({ from, to })
        lead(from, to)
      }
    }
  }
  return pairs
}

/** layers are as far from the top as the longest way to a node is. */
function layers(order: readonly string[], pairs: readonly Pair[]): Map<string, number> {
  const layer = new Map(order.map((id) => [id, 0]))
  const down = new Map<string, string[]>()
  const waits = new Map<string, number>()
  for (const { from, to } of pairs) {
    down.set(from, [...(down.get(from) ?? []), to])
    waits.set(to, (waits.get(to) ?? 0) + 1)
  }
  const open = order.filter((id) => !waits.get(id))
  for (let id = open.shift(); id !== undefined; id = open.shift()) {
    for (const to of down.get(id) ?? []) {
      layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(id) ?? 0) + 1))
      const left = (waits.get(to) ?? 0) - 1
      waits.set(to, left)
      if (left === 0) open.push(to)
    }
  }
  return layer
}

const mean = (all: readonly number[]) => all.reduce((sum, n) => sum + n, 0) / all.length

/** sortLayers has boxes stand below and above those they are connected with, so that few edges cross. */
function sortLayers(layered: Box[][]) {
  const place = new Map<Box, number>()
  const number = (layer: Box[]) => layer.forEach((box, at) => place.set(box, at / Math.max(1, layer.length - 1)))
  layered.forEach(number)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const downwards = sweep % 2 === 0
    for (const layer of downwards ? layered : [...layered].reverse()) {
      const wish = new Map<Box, number>()
      layer.forEach((box, at) => {
        const beside = downwards ? box.up : box.down
        // Outputs stand in their order: what comes first in a node stands left.
        wish.set(box, beside.length > 0 ? mean(beside.map((other) => (place.get(other) ?? 0) + share(other, box, downwards))) : (place.get(box) ?? at))
      })
      layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0))
      number(layer)
    }
  }
}

/** share parts boxes that hang on one by their order there, but never moves one past those of another. */
function share(above: Box, box: Box, downwards: boolean): number {
  return downwards ? above.down.indexOf(box) / (above.down.length * 1_000) : 0
}

/** spread gives the boxes of each layer, in their order, the places nearest to those they hang on. */
function spread(layered: Box[][]) {
  for (const layer of layered) settle(layer, layer.map(() => 0))
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const downwards = sweep % 2 === 0
    for (const layer of downwards ? layered : [...layered].reverse()) {
      settle(
        layer,
        layer.map((box) => {
          const first = downwards ? box.up : box.down
          const beside = first.length > 0 ? first : downwards ? box.down : box.up
          return beside.length > 0 ? mean(beside.map((other) => other.x)) : box.x
        }),
      )
    }
  }
}

/**
 * settle places boxes in a row as near to where they would like to stand as
 * their widths allow: those that press against each other stand as one block
 * around the mean of their wishes.
 */
function settle(row: readonly Box[], wishes: readonly number[]) {
  const offsets: number[] = []
  row.forEach((box, at) => {
    const before = row[at - 1]
    offsets.push(before ? (offsets[at - 1] ?? 0) + (before.width + box.width) / 2 + gap.x : 0)
  })
  const blocks: { from: number; sum: number; size: number }[] = []
  row.forEach((_, at) => {
    blocks.push({ from: at, sum: (wishes[at] ?? 0) - (offsets[at] ?? 0), size: 1 })
    for (let last = blocks.at(-1), before = blocks.at(-2); last && before && before.sum / before.size > last.sum / last.size; last = blocks.at(-1), before = blocks.at(-2)) {
      before.sum += last.sum
      before.size += last.size
      blocks.pop()
    }
  })
  for (const { from, sum, size } of blocks) {
    for (let at = from; at < from + size; at++) {
      const box = row[at]
      if (box) box.x = sum / size + (offsets[at] ?? 0)
    }
  }
}

/**
 * complete is where every node stands: where somebody has placed it, else where
 * arrange would, or near the node that leads to it.
 */
export function complete(flow: Flow, widthOf: (id: string) => number): Record<string, Place> {
  const placed: Record<string, Place> = {}
  for (const [id, at] of Object.entries(flow.ui?.nodes ?? {})) if (id in flow.nodes) placed[id] = at
  const missing = Object.keys(flow.nodes).filter((id) => !placed[id])
  if (missing.length === 0) return placed
  const arranged = arrange(flow, widthOf)
  if (Object.keys(placed).length === 0) return arranged
  const before = new Map(edges(flow).map(({ from, to }) => [to, from]))
  missing.sort((a, b) => (arranged[a]?.y ?? 0) - (arranged[b]?.y ?? 0))
  for (const id of missing) {
    const above = placed[before.get(id) ?? '']
    placed[id] = free(above ? { x: above.x, y: above.y + height + gap.y } : (arranged[id] ?? { x: 0, y: 0 }), widthOf(id), placed, widthOf)
  }
  return placed
}

/** free is the place at or right of one where a node of a width overlaps no other. */
export function free(at: Place, width: number, placed: Record<string, Place>, widthOf: (id: string) => number): Place {
  let { x } = at
  const row = Object.entries(placed)
    .filter(([, other]) => Math.abs(other.y - at.y) < height + 8)
    .sort(([, a], [, b]) => a.x - b.x)
  for (const [id, other] of row) if (x < other.x + widthOf(id) + 8 && other.x < x + width + 8) x = other.x + widthOf(id) + gap.x
  return { x, y: at.y }
}
