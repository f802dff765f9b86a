import { isRecord } from '../../../ui/schema-form/schema'
import { insert } from './edit'
import { places } from './flow'
import type { Document, Place } from './types'

const format = 'trunkline-nodes/1'

/** write is nodes of a document as a text that can be pasted into another. */
export function write(document: Document, ids: readonly string[], where: Record<string, Place>): string {
  const nodes = isRecord(document.nodes) ? document.nodes : {}
  const chosen = ids.filter((id) => isRecord(nodes[id]))
  return JSON.stringify({
    format,
    nodes: Object.fromEntries(chosen.map((id) => [id, nodes[id]])),
    ui: { nodes: Object.fromEntries(chosen.flatMap((id) => (where[id] ? [[id, where[id]]] : []))) },
  })
}

export interface Clip {
  nodes: Record<string, unknown>
  places: Record<string, Place>
}

/** read is what write has made, or a whole document; undefined: the text is neither. */
export function read(text: string): Clip | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || (value.format !== format && value.format !== 'trunkline-flow/1') || !isRecord(value.nodes)) return undefined
  const nodes = Object.fromEntries(Object.entries(value.nodes).filter(([, node]) => isRecord(node) && typeof node.type === 'string'))
  return Object.keys(nodes).length > 0 ? { nodes, places: places(value) } : undefined
}

/** paste puts what was copied into a document, the middle of it at a place. */
export function paste(document: Document, clip: Clip, at: Place): { document: Document; ids: string[] } {
  const known = Object.values(clip.places)
  const left = Math.min(...known.map((place) => place.x))
  const right = Math.max(...known.map((place) => place.x))
  const top = Math.min(...known.map((place) => place.y))
  const bottom = Math.max(...known.map((place) => place.y))
  const where: Record<string, Place> = {}
  Object.keys(clip.nodes).forEach((id, n) => {
    const from = clip.places[id]
    where[id] = from ? { x: from.x - (left + right) / 2 + at.x, y: from.y - (top + bottom) / 2 + at.y } : { x: at.x + 24 * n, y: at.y + 24 * n }
  })
  return insert(document, clip.nodes, where)
}
