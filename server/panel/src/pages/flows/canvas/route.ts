import type { Place } from './types'

/** Box is a node on its place, or what frames the nodes of a loop. */
export interface Box extends Place {
  width: number
  height: number
  /** The nodes within a frame, whose edges may cross it. */
  holds?: ReadonlySet<string>
}

/** Line is where an edge begins and ends, and which nodes those are. */
export interface Line {
  from: Place
  to: Place
  ends: readonly [string, string]
}

/** How far below its beginning an edge has turned into its lane, and above its end it leaves it. */
export const turn = 44
const apart = 14

/** leadsBack says whether an edge ends above where it begins. */
export const leadsBack = ({ from, to }: Pick<Line, 'from' | 'to'>) => to.y < from.y + 16

/**
 * lanes are where edges pass nodes that stand in their way: the x of a free
 * lane by the edge's place in the list; those that are free as they are have
 * none.
 */
export function lanes(lines: readonly Line[], boxes: ReadonlyMap<string, Box>): (number | undefined)[] {
  const taken: { x: number; top: number; bottom: number }[] = []
  return lines.map((line) => {
    const back = leadsBack(line)
    if (!back && !meets(line, boxes)) return undefined
    const [top, bottom] = back ? [line.to.y - 24, line.from.y + 20] : [line.from.y + turn, line.to.y - turn]
    const within = [...boxes.values()].filter((box) => box.y < bottom && box.y + box.height > top && !line.ends.some((id) => box.holds?.has(id)))
    const clear = (x: number) =>
      within.every((box) => x < box.x - apart + 1 || x > box.x + box.width + apart - 1) && taken.every((lane) => Math.abs(lane.x - x) >= 10 || lane.top > bottom || lane.bottom < top)
    const sides = within.flatMap((box) => [box.x - apart, box.x + box.width + apart])
    // Beside a lane that is taken there is room for another.
    const all = [line.from.x, line.to.x, ...sides].flatMap((x) => [x, ...[1, 2, 3, 4].flatMap((n) => [x - 10 * n, x + 10 * n])])
    const way = (x: number) => Math.abs(x - line.from.x) + Math.abs(x - line.to.x)
    let best: number | undefined
    for (const x of all) {
      if ((best === undefined || way(x) < way(best)) && clear(x) && !(back && crosses(line, x, boxes))) best = x
    }
    if (best !== undefined) taken.push({ x: best, top, bottom })
    return best
  })
}

/** crosses says whether an edge that leads back would cross one of its own ends on its way to a lane. */
function crosses(line: Line, x: number, boxes: ReadonlyMap<string, Box>): boolean {
  return line.ends.some((id) => {
    const box = boxes.get(id)
    return box !== undefined && x > box.x - apart + 1 && x < box.x + box.width + apart - 1
  })
}

/** meets says whether the curve of an edge runs over a node that it does not belong to. */
function meets({ from, to, ends }: Line, boxes: ReadonlyMap<string, Box>): boolean {
  const bend = bendOf(from, to)
  for (const [id, box] of boxes) {
    if (ends.includes(id) || ends.some((end) => box.holds?.has(end)) || box.y > to.y || box.y + box.height < from.y) continue
    for (let n = 1; n < 16; n++) {
      const s = n / 16
      const [a, b, c, d] = [(1 - s) ** 3, 3 * (1 - s) ** 2 * s, 3 * (1 - s) * s ** 2, s ** 3]
      const x = (a + b) * from.x + (c + d) * to.x
      const y = a * from.y + b * (from.y + bend) + c * (to.y - bend) + d * to.y
      if (x > box.x - 4 && x < box.x + box.width + 4 && y > box.y - 4 && y < box.y + box.height + 4) return true
    }
  }
  return false
}

const bendOf = (from: Place, to: Place) => Math.max(20, Math.min(90, (to.y - from.y) / 2))

/** draw is the path of an edge, as SVG writes it. */
export function draw(from: Place, to: Place, lane: number | undefined): string {
  const end = to.y - 4
  if (leadsBack({ from, to })) return around(from, lane ?? Math.max(from.x, to.x) + 150, { x: to.x, y: end })
  if (lane === undefined) {
    const bend = bendOf(from, to)
    return `M${from.x} ${from.y}C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${end}`
  }
  const half = turn * 0.6
  const [top, bottom] = [from.y + turn, Math.max(from.y + turn, to.y - turn)]
  return `M${from.x} ${from.y}C${from.x} ${from.y + half} ${lane} ${top - half} ${lane} ${top}V${bottom}C${lane} ${bottom + half} ${to.x} ${to.y - half} ${to.x} ${end}`
}

/** around leads up again beside what stands between, with round corners. */
function around(from: Place, lane: number, to: Place): string {
  const [low, high] = [from.y + 20, to.y - 20]
  const out = Math.sign(lane - from.x) || 1
  const into = Math.sign(to.x - lane) || 1
  const r = Math.max(0, Math.min(10, (low - high) / 2, Math.abs(lane - from.x) / 2, Math.abs(lane - to.x) / 2))
  return (
    `M${from.x} ${from.y}V${low - r}q0 ${r} ${r * out} ${r}H${lane - r * out}q${r * out} 0 ${r * out} ${-r}` +
    `V${high + r}q0 ${-r} ${r * into} ${-r}H${to.x - r * into}q${r * into} 0 ${r * into} ${r}V${to.y}`
  )
}
