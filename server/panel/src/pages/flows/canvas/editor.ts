import { createContext, useContext } from 'react'
import type { Names } from './flow'
import type { Lists } from './lists'
import type { CanvasProps, Document, Flow, NodeType, Place } from './types'

/** Editor is what the parts of the canvas share: what is edited, and how. */
export interface Editor extends Pick<CanvasProps, 'problems' | 'marks' | 'engine'> {
  document: Document
  flow: Flow
  /** Where every node stands, also those that nobody has placed. */
  places: Record<string, Place>
  types: Map<string, NodeType>
  /** Types that the engine and the kind of the document have. */
  offered: NodeType[]
  names: Names
  lists: Lists
  readOnly: boolean
  widthOf: (id: string) => number
  /** edit takes another document over; edits of one field that follow each other are one step of undo. */
  edit: (next: Document, field?: string) => void
  /** The nodes that are selected. */
  chosen: readonly string[]
  choose: (ids: readonly string[]) => void
  /** add puts a new node where it overlaps no other, and connects it. */
  add: (type: string, at?: Place, from?: { node: string; output: string }) => void
}

const Context = createContext<Editor | null>(null)
export const EditorProvider = Context.Provider

export function useEditor(): Editor {
  const editor = useContext(Context)
  if (!editor) throw new Error('there is no canvas around this')
  return editor
}
