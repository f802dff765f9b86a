import { ReactFlowProvider } from '@xyflow/react'
import type { CanvasProps } from './types'
import { Workbench } from './workbench'

/** Canvas draws a flow and edits it. It fills the height of what is around it. */
export default function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Workbench {...props} />
    </ReactFlowProvider>
  )
}

export type { CanvasProps, Mark, Marks } from './types'
