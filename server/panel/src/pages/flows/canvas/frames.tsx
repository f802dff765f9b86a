import { useStore, ViewportPortal } from '@xyflow/react'
import { memo } from 'react'
import { t } from '../../../text'
import { type Body, bodies, title } from './flow'
import { Sign } from './icons'
import { height } from './size'
import type { Flow } from './types'

/** Frames stand behind what loops repeat. */
export const Frames = memo(function Frames({ flow }: { flow: Flow }) {
  return (
    <ViewportPortal>
      {bodies(flow).map((body) => (
        <Frame key={body.loop} body={body} name={title(body.loop, flow.nodes[body.loop])} />
      ))}
    </ViewportPortal>
  )
})

function Frame({ body, name }: { body: Body; name: string }) {
  const edges = useStore(
    (state) => {
      const nodes = body.nodes.flatMap((id) => state.nodeLookup.get(id) ?? [])
      const at = nodes.map((node) => node.internals.positionAbsolute)
      return [Math.min(...at.map((p) => p.x)), Math.min(...at.map((p) => p.y)), Math.max(...at.map((p, i) => p.x + (nodes[i]?.width ?? 0))), Math.max(...at.map((p) => p.y + height))] as const
    },
    (a, b) => a.every((n, i) => n === b[i]),
  )
  const [left, top, right, bottom] = edges
  if (!Number.isFinite(left)) return null
  return (
    <div className="frame" style={{ left: left - 20, top: top - 22, width: right - left + 40, height: bottom - top + 42 }}>
      <span className="frame-name">
        <Sign name="loop" size={12} /> {t('canvas.repeats', { name })}
      </span>
    </div>
  )
}
