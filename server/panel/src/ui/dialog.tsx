import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { t } from '../text'
import { Button } from './parts'
import { leave, onLeave } from './typed'

/** Dialog asks for something before anything else; Escape closes it, after a question if something was typed. */
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
      onKeyDown={(event) => {
        // The browser closes a dialog at a second Escape without asking the page.
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        leave(close, event.currentTarget)
      }}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return // no file was chosen
        event.preventDefault()
        leave(close, event.currentTarget)
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button tone="quiet" icon="close" label={t('close')} onClick={() => leave(close, ref.current ?? undefined)} />
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

/** Leave asks before what was typed is lost. */
export function Leave() {
  const [run, ask] = useState<(() => void) | null>(null)
  useEffect(() => onLeave((next) => ask(() => next)), [])
  if (!run) return null
  const close = () => ask(null)
  const discard = () => {
    close()
    run()
  }
  return <Confirm title={t('leave.title')} text={t('leave.text')} action={t('leave.discard')} run={discard} close={close} />
}
