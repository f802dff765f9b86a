import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client'
import { t } from '../../text'
import { Badge, Button, Notice } from '../../ui/parts'

type Tool = Schemas['RemoteToolView']
type Said = Schemas['ApprovedTool']

const json = (value: unknown) => JSON.stringify(value, null, 2)

/** ToolCard shows what a foreign tool says of itself, to be approved or not. */
export function ToolCard({ tool, busy, decide }: { tool: Tool; busy: boolean; decide: (approved: boolean) => void }) {
  return (
    <li className="card stack">
      <div className="row spread">
        <span className="row">
          <strong className="mono" dir="auto">
            {tool.name}
          </strong>
          {tool.changed ? <Badge tone="warn">{t('servers.changed')}</Badge> : <Badge tone={tool.approved ? 'ok' : 'none'}>{t(tool.approved ? 'servers.approved' : 'servers.waiting')}</Badge>}
        </span>
        <Button busy={busy} onClick={() => decide(!tool.approved)}>
          {t(tool.approved ? 'servers.withdraw' : tool.changed ? 'servers.approveAgain' : 'servers.approve')}
          <span className="hidden">{tool.name}</span>
        </Button>
      </div>
      {tool.changed && <Changes tool={tool} />}
      {(tool.before?.description ?? tool.description) === tool.description && (
        <p className="words" dir="auto">
          {tool.description || <span className="mute">{t('servers.noDescription')}</span>}
        </p>
      )}
      <p className="row">
        <Hints tool={tool} />
      </p>
      <Arguments schema={tool.schema} />
    </li>
  )
}

/** Changes are what is another than it was when the tool was approved. */
function Changes({ tool }: { tool: Tool }) {
  const { before } = tool
  if (!before) return <Notice tone="warn">{t('servers.changedUnknown')}</Notice>
  const hints = (of: Said) => JSON.stringify([of.readOnly, of.destructive, of.idempotent, of.openWorld])
  return (
    <div className="stack">
      <Notice tone="warn">{t('servers.changedText')}</Notice>
      {before.description !== tool.description && <Both part="description" show={(of) => of.description} before={before} now={tool} />}
      {hints(before) !== hints(tool) && <Both part="hints" show={(of) => <Hints tool={of} />} before={before} now={tool} />}
      {json(before.schema) !== json(tool.schema) && <Both part="arguments" show={(of) => <span className="mono">{json(of.schema)}</span>} before={before} now={tool} />}
    </div>
  )
}

/** Both shows a part of a tool as it was and as it is. */
function Both({ part, show, before, now }: { part: 'description' | 'hints' | 'arguments'; show: (of: Said) => ReactNode; before: Said; now: Said }) {
  return (
    <dl className="both" aria-label={t(`servers.${part}`)}>
      <div>
        <dt>{t('servers.was', { part: t(`servers.${part}`) })}</dt>
        <dd className="words" dir="auto">
          {show(before)}
        </dd>
      </div>
      <div>
        <dt>{t('servers.is', { part: t(`servers.${part}`) })}</dt>
        <dd className="words now" dir="auto">
          {show(now)}
        </dd>
      </div>
    </dl>
  )
}

/** Hints are what its server says a tool does; nobody has checked it. */
function Hints({ tool }: { tool: Said }) {
  return (
    <>
      <Badge>{t(tool.readOnly ? 'servers.readOnly' : 'servers.writes')}</Badge>
      {!tool.readOnly && tool.destructive && <Badge tone="warn">{t('servers.destructive')}</Badge>}
      {!tool.readOnly && tool.idempotent && <Badge>{t('servers.idempotent')}</Badge>}
      {tool.openWorld && <Badge>{t('servers.openWorld')}</Badge>}
    </>
  )
}

function Arguments({ schema }: { schema: unknown }) {
  return (
    <details>
      <summary>{t('servers.arguments')}</summary>
      <pre className="code" dir="auto" tabIndex={0}>
        {json(schema)}
      </pre>
    </details>
  )
}
