import { type ReactNode, useEffect, useId, useRef } from 'react'
import { t } from '../text'
import { Button } from './parts'

/** Dialog asks for something before anything else; Escape closes it. */
export function Dialog({ title, close, children, footer, wide }: { title: string; close: () => void; children: ReactNode; footer?: ReactNode; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog && !dialog.open) dialog.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      className={`dialog ${wide ? 'wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return // no file was chosen
        event.preventDefault()
        close()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button tone="quiet" icon="close" label={t('close')} onClick={close} />
      </header>
      <div className="body">{children}</div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  )
}

/** Confirm asks before something that cannot be undone. */
export function Confirm({ title, text, action, busy, run, close }: { title: string; text: string; action: string; busy?: boolean; run: () => void; close: () => void }) {
  return (
    <Dialog
      title={title}
      close={close}
      footer={
        <>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button tone="bad" busy={busy ?? false} onClick={run}>
            {action}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  )
}
