import type { Schemas } from '../../../api/client'
import { edgeId, type Mark, type Marks } from './types'

type Step = Pick<Schemas['StepView'], 'node' | 'output' | 'path' | 'error'>

/** How a run stands after its last step. */
export type Standing = Schemas['RunDetail']['status']

/**
 * marksOf is what steps have done to the nodes and edges of the flow itself;
 * those of functions that it calls stand behind their call. A node that waited
 * and went on was there once. The last step is where the run is.
 */
export function marksOf(steps: readonly Step[], standing: Standing = 'completed'): Marks {
  const marks: Marks = { nodes: {}, edges: {} }
  const count = (all: Record<string, Mark>, id: string, state: Mark['state'], again = false) => {
    all[id] = { state, times: (all[id]?.times ?? 0) + (again ? 0 : 1) }
  }
  const waited = new Set<string>()
  let last = ''
  for (const step of steps) {
    if (step.path.some((frame) => frame.startsWith('call:'))) continue
    const place = [...step.path, step.node].join('/')
    count(marks.nodes, step.node, step.error ? 'failed' : 'done', waited.delete(place))
    if (step.output === null && !step.error) waited.add(place)
    if (step.output !== null) count(marks.edges, edgeId(step.node, step.output), step.error ? 'failed' : 'done')
    last = step.node
  }
  const mark = marks.nodes[last]
  if (mark) {
    mark.current = true
    if (standing === 'waiting' || standing === 'running') mark.state = standing
    if (standing === 'failed') mark.state = 'failed'
  }
  return marks
}
