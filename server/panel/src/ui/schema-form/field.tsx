import type { ReactNode } from 'react'
import type { Path, Schema } from './schema'

/** FieldProps is what a field of a form knows: the value, undefined when there is none, and how to change it. */
export interface FieldProps {
  schema: Schema
  label: string
  path: Path
  value: unknown
  change: (value: unknown) => void
  required: boolean
  /** What is wrong with the value of a path. */
  wrong: (path: Path) => string | undefined
  /** Special fields replace those that a schema would get; undefined leaves them. */
  special?: Special | undefined
}

export type Special = (field: FieldProps) => ReactNode | undefined

/** Group is several fields for one value. */
export function Group({ label, hint, wrong, children }: { label: ReactNode; hint?: string | undefined; wrong?: string | undefined; children: ReactNode }) {
  return (
    <fieldset className="group">
      <legend>{label}</legend>
      <Said hint={hint} />
      {children}
      <Said wrong={wrong} />
    </fieldset>
  )
}

/** Said is what is to be known of a group, and what is wrong with it as a whole. */
export function Said({ hint, wrong }: { hint?: string | undefined; wrong?: string | undefined }) {
  return (
    <>
      {hint && <p className="hint">{hint}</p>}
      {wrong && (
        <p className="wrong" role="alert">
          {wrong}
        </p>
      )}
    </>
  )
}
