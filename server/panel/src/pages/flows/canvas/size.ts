import type { Port } from './flow'

/** What a node takes on the canvas, in its pixels. Nodes are all of one height; their outputs make them wider. */
export const height = 76
const least = 220

/** portWidth is that of an output; one that most flows leave open is but a spot until it is used. */
export function portWidth(port: Port, wired: boolean): number {
  if (port.side && !wired) return 24
  return Math.min(112, Math.ceil(Math.max(3, port.label.length) * 6.5) + 16)
}

/** nodeWidth is that of a node with these outputs. */
export function nodeWidth(all: readonly Port[], next: Record<string, string> = {}): number {
  const outputs = all.reduce((sum, port) => sum + portWidth(port, port.output in next), 0)
  return Math.max(least, outputs + 16)
}
