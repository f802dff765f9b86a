import { BaseEdge, type Edge as Drawn, type EdgeProps } from '@xyflow/react'
import { memo } from 'react'
import { number } from '../../../text'
import type { Mark } from './types'

export interface EdgeData extends Record<string, unknown> {
  /** How far the nodes reach to the right of where the edge begins and ends. */
  right: { from: number; to: number }
  /** Whether it is an output that most flows leave open. */
  side: boolean
  mark: Mark | undefined
}

export type FlowEdge = Drawn<EdgeData, 'flow'>

/** Way draws an edge: down to the next node, or around the right of what it leads back over. */
export const Way = memo(function Way({ sourceX: x, sourceY: y, targetX, targetY, data, interactionWidth }: EdgeProps<FlowEdge>) {
  const mark = data?.mark
  const back = targetY < y + 16
  const side = Math.max(x + (data?.right.from ?? 0), targetX + (data?.right.to ?? 0)) + 28
  const path = back ? around(x, y, side, targetX, targetY) : down(x, y, targetX, targetY)
  const middle = back ? { x: side, y: (y + targetY) / 2 } : { x: (x + targetX) / 2, y: (y + targetY) / 2 }
  return (
    <g className={`way ${data?.side ? 'side' : ''} ${mark ? `is-${mark.state}` : ''}`}>
      <BaseEdge path={path} interactionWidth={interactionWidth ?? 20} />
      <path className="way-tip" d={`M${targetX - 4.5} ${targetY - 9}L${targetX} ${targetY - 1}L${targetX + 4.5} ${targetY - 9}z`} />
      {mark && mark.times > 1 && (
        <text className="way-times" x={middle.x + 8} y={middle.y + 4}>
          ×{number(mark.times)}
        </text>
      )}
    </g>
  )
})

function down(x: number, y: number, toX: number, toY: number): string {
  const bend = Math.max(20, Math.min(90, (toY - y) / 2))
  return `M${x} ${y}C${x} ${y + bend} ${toX} ${toY - bend} ${toX} ${toY - 4}`
}

/** around leads up again, with round corners. */
function around(x: number, y: number, side: number, toX: number, toY: number): string {
  const low = y + 20
  const high = toY - 24
  const r = Math.max(0, Math.min(10, (low - high) / 2, (side - Math.max(x, toX)) / 2))
  return `M${x} ${y}V${low - r}q0 ${r} ${r} ${r}H${side - r}q${r} 0 ${r} ${-r}V${high + r}q0 ${-r} ${-r} ${-r}H${toX + r}q${-r} 0 ${-r} ${r}V${toY - 4}`
}
