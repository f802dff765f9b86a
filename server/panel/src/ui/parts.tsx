import { type ButtonHTMLAttributes, type ReactNode, useId, useState } from 'react'
import { Problem } from '../api/client'
import { t } from '../text'
import { Icon, type IconName } from './icon'
import { toast } from './toast'

export type Tone = 'ok' | 'bad' | 'warn' | 'brand' | 'none'

/** Button does something; icons alone need a label. */
export function Button({ tone, icon, busy, children, label, ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { tone?: 'main' | 'bad' | 'quiet'; icon?: IconName; busy?: boolean; label?: string }) {
  return (
    <button type="button" className={`button ${tone ?? ''} ${children ? '' : 'square'}`} aria-label={label} title={label} disabled={busy || rest.disabled} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** Badge says a state in a word; its colour only repeats it. */
export function Badge({ tone = 'none', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>
}

export function Notice({ tone = 'none', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** Empty is what a page shows before there is anything: what it is, and what to do first. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header>
      <h1>{title}</h1>
      {children && <div className="row">{children}</div>}
    </header>
  )
}

export function Loading() {
  return (
    <p className="empty" role="status">
      {t('loading')}
    </p>
  )
}

/** Failed says why something could not be read, and reads it again. */
export function Failed({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div className="notice bad row spread" role="alert">
      <span>{error.message}</span>
      {again && <Button onClick={again}>{t('again')}</Button>}
    </div>
  )
}

/** Refused says in a form why something was not done; what is wrong with a field stands there. */
export function Refused({ error }: { error: Error | null }) {
  if (!error) return null
  if (error instanceof Problem && (error.errors.length > 0 || error.status === 401)) return null
  return <Notice tone="bad">{error instanceof Problem && error.status === 0 ? t('offline') : error.message}</Notice>
}

/** More reads the next page of a list. */
export function More({ list }: { list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown } }) {
  if (!list.hasNextPage) return null
  return (
    <div className="row">
      <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {t('more')}
      </Button>
    </div>
  )
}

/** Copy puts a text into the clipboard. */
export function Copy({ text, label }: { text: string; label?: string }) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 2_000)
    } catch {
      toast('bad', t('copyFailed'))
    }
  }
  return (
    <Button tone="quiet" icon={done ? 'check' : 'copy'} onClick={() => void copy()} {...(label ? {} : { label: t('copy') })}>
      {label && (done ? t('copied') : label)}
    </Button>
  )
}

/** Code shows a text as it is, to be copied. */
export function Code({ children }: { children: string }) {
  return (
    <div className="code row spread">
      <pre className="grow" tabIndex={0}>
        {children}
      </pre>
      <Copy text={children} />
    </div>
  )
}

/** Curl shows how to have from the API what the page shows. */
export function Curl({ method = 'GET', path, body }: { method?: string; path: string; body?: unknown }) {
  const id = useId()
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${location.origin}${path}'`, `-H "Authorization: Bearer $TOKEN"`]
  if (body !== undefined) lines.push(`--json '${JSON.stringify(body).replaceAll("'", "'\\''")}'`)
  return (
    <details className="small" aria-labelledby={id}>
      <summary id={id} className="mute">
        {t('showCurl')}
      </summary>
      <Code>{lines.join(' \\\n  ')}</Code>
    </details>
  )
}
