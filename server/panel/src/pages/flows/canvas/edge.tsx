import { BaseEdge, type Edge as Drawn, type EdgeProps } from '@xyflow/react'
import { memo } from 'react'
import { number } from '../../../text'
import { draw, leadsBack, type Line } from './route'
import type { Mark } from './types'

export interface EdgeData extends Record<string, unknown> {
  /** Where it stands when nothing is moved, and the lane in which it passes nodes there. */
  line: Line
  lane: number | undefined
  /** Whether it is an output that most flows leave open. */
  side: boolean
  mark: Mark | undefined
}

export type FlowEdge = Drawn<EdgeData, 'flow'>

/** Way draws an edge: down to the next node, beside those that stand between. */
export const Way = memo(function Way({ sourceX, sourceY, targetX, targetY, data, interactionWidth }: EdgeProps<FlowEdge>) {
  const [from, to] = [{ x: sourceX, y: sourceY }, { x: targetX, y: targetY }]
  const near = (a: number, b: number | undefined) => b !== undefined && Math.abs(a - b) < 8
  const rests = near(from.x, data?.line.from.x) && near(from.y, data?.line.from.y) && near(to.x, data?.line.to.x) && near(to.y, data?.line.to.y)
  const lane = rests ? data?.lane : undefined
  const mark = data?.mark
  const middle = { x: lane ?? (leadsBack({ from, to }) ? Math.max(from.x, to.x) + 150 : (from.x + to.x) / 2), y: (from.y + to.y) / 2 }
  return (
    <g className={`way ${data?.side ? 'side' : ''} ${mark ? `is-${mark.state}` : ''}`}>
      <BaseEdge path={draw(from, to, lane)} interactionWidth={interactionWidth ?? 20} />
      <path className="way-tip" d={`M${to.x - 4.5} ${to.y - 9}L${to.x} ${to.y - 1}L${to.x + 4.5} ${to.y - 9}z`} />
      {mark && mark.times > 1 && (
        <text className="way-times" x={middle.x + 8} y={middle.y + 4}>
          ×{number(mark.times)}
        </text>
      )}
    </g>
  )
})
