import type { Schemas } from '../../api/client'
import { t } from '../../text'
import { Badge, Button } from '../../ui/parts'

type Tool = Schemas['RemoteToolView']

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
      {tool.changed && <p>{t('servers.changedText')}</p>}
      <p className="words" dir="auto">
        {tool.description || <span className="mute">{t('servers.noDescription')}</span>}
      </p>
      <p className="row">
        <Hints tool={tool} />
      </p>
      <Arguments schema={tool.schema} />
    </li>
  )
}

/** Hints are what its server says a tool does; nobody has checked it. */
function Hints({ tool }: { tool: Pick<Tool, 'readOnly' | 'destructive' | 'idempotent' | 'openWorld'> }) {
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
        {JSON.stringify(schema, null, 2)}
      </pre>
    </details>
  )
}
