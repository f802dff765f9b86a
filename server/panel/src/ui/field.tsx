import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react'

interface Common {
  label: string
  hint?: ReactNode
  /** What is wrong with the value; it stands below the field. */
  wrong?: string | undefined
}

function Frame({ id, label, hint, wrong, children }: Common & { id: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span className="wrong" id={`${id}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  )
}

function described(id: string, { hint, wrong }: Common) {
  const ids = [wrong && `${id}-wrong`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return { 'aria-invalid': wrong ? true : undefined, 'aria-describedby': ids || undefined }
}

export function Input({ label, hint, wrong, ...rest }: Common & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  const common = { label, hint, wrong }
  return (
    <Frame id={id} {...common}>
      <input id={id} className="input" {...described(id, common)} {...rest} />
    </Frame>
  )
}

export function TextArea({ label, hint, wrong, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  const common = { label, hint, wrong }
  return (
    <Frame id={id} {...common}>
      <textarea id={id} className="input" {...described(id, common)} {...rest} />
    </Frame>
  )
}

export function Select({ label, hint, wrong, options, ...rest }: Common & SelectHTMLAttributes<HTMLSelectElement> & { options: readonly { value: string; label: string }[] }) {
  const id = useId()
  const common = { label, hint, wrong }
  return (
    <Frame id={id} {...common}>
      <select id={id} className="input" {...described(id, common)} {...rest}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export function Check({ label, hint, ...rest }: { label: string; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="check">
      <input id={id} type="checkbox" aria-describedby={hint ? `${id}-hint` : undefined} {...rest} />
      <label htmlFor={id}>
        {label}
        {hint && (
          <span className="small mute" id={`${id}-hint`}>
            {' '}
            {hint}
          </span>
        )}
      </label>
    </div>
  )
}
