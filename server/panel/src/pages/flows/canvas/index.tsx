import type { CanvasProps } from './types'

/** Canvas draws a flow and edits it. It fills the height of what is around it. */
export default function Canvas(_: CanvasProps) {
  return <div className="canvas" />
}

export type { CanvasProps, Mark, Marks } from './types'
