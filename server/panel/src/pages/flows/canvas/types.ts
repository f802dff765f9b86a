import type { Schemas } from '../../../api/client'

/** A document of the flow language as the editor reads it; a draft may be anything, see read. */
export interface Flow {
  nodes: Record<string, FlowNode>
  start?: string
  kind?: string
  ui?: { nodes?: Record<string, Place> }
  [member: string]: unknown
}

export interface FlowNode {
  type: string
  name?: string
  config?: Record<string, unknown>
  /** Output → id of the node that follows. */
  next?: Record<string, string>
  disabled?: boolean
  [member: string]: unknown
}

export interface Place {
  x: number
  y: number
}

export type Document = Record<string, unknown>
export type Engine = 'botengine' | 'aiflow'
export type FlowProblem = Schemas['FlowProblem']
export type Output = Schemas['FlowOutput']

/** What a node type is; config is the JSON Schema of its configuration. */
export type NodeType = Schemas['FlowDescription']
export type Palette = Schemas['FlowPalette']

/** Mark is what a run or a simulation has done at a node or on an edge. */
export interface Mark {
  state: 'done' | 'failed' | 'waiting' | 'running'
  /** How often it was there. */
  times: number
  /** Whether the run is there now. */
  current?: boolean
}

/** Marks are by the id of a node, and by edgeId of an edge. */
export interface Marks {
  nodes: Record<string, Mark>
  edges: Record<string, Mark>
}

/** edgeId names the edge that leaves a node by an output. */
export const edgeId = (node: string, output: string) => `${node}:${output}`

export interface CanvasProps {
  document: Document
  /** Called with a new document after each edit. What does not change keeps its identity. */
  change: (next: Document) => void
  /** What validation has found: path is a JSON pointer into the document. */
  problems: readonly FlowProblem[]
  marks?: Marks | undefined
  /** The node that is selected, as the address says; null: none. */
  node: string | null
  select: (id: string | null) => void
  palette: Palette
  engine: Engine
  /** Of what functions, flows and files may be named; a bot has none. */
  project?: string | undefined
  /** Whose extractors may be named. */
  owner?: { bot: string } | { flow: string } | undefined
  readOnly?: boolean | undefined
  /** Kept by the page, undo outlives the canvas; see History. */
  history?: import('./history').History | undefined
}
