import { useStore, ViewportPortal } from '@xyflow/react'
import { memo } from 'react'
import { t } from '../../../text'
import { type Body, bodies, frameOf, title } from './flow'
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
  const frame = useStore(
    (state) =>
      frameOf(
        body.nodes.flatMap((id) => {
          const node = state.nodeLookup.get(id)
          return node ? [{ ...node.internals.positionAbsolute, width: node.width ?? 0, height }] : []
        }),
      ),
    (a, b) => a?.x === b?.x && a?.y === b?.y && a?.width === b?.width && a?.height === b?.height,
  )
  if (!frame) return null
  return (
    <div className="frame" style={{ left: frame.x, top: frame.y, width: frame.width, height: frame.height }}>
      <span className="frame-name">
        <Sign name="loop" size={12} /> {t('canvas.repeats', { name })}
      </span>
    </div>
  )
}
