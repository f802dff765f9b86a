import { Link, useParams } from 'wouter'
import { useMay } from '../../session'
import { t } from '../../text'
import { Empty, PageHead } from '../../ui/parts'
import { Calls } from './calls'
import { Catalogue } from './catalogue'
import { Connect } from './connect'
import { Credentials } from './credentials'
import { Knowledge } from './knowledge'
import { Server } from './server'
import { Servers } from './servers'
import './functions.css'

const parts = ['all', 'connect', 'calls', 'servers', 'credentials', 'knowledge'] as const
type Part = (typeof parts)[number]

const needs: Record<Part, string> = { all: 'mcp.execute', connect: 'mcp.execute', calls: 'users.manage', servers: 'flows.manage', credentials: 'flows.manage', knowledge: 'flows.manage' }

/** Functions are what agents may call: those of this server, and the tools of others. */
export default function Functions() {
  const { part: asked, id } = useParams<{ part?: string; id?: string }>()
  const may: Record<string, boolean> = { 'mcp.execute': useMay('mcp.execute'), 'users.manage': useMay('users.manage'), 'flows.manage': useMay('flows.manage') }
  const shown = parts.filter((part) => may[needs[part]])
  const part = shown.find((one) => one === asked) ?? shown[0]
  return (
    <div className="page functions">
      <PageHead title={t('functions.title')} />
      {part ? (
        <>
          <div className="tabs" role="navigation" aria-label={t('functions.title')}>
            {shown.map((one) => (
              <Link key={one} href={`/functions/${one}`} aria-current={one === part ? 'page' : undefined}>
                {t(`functions.${one}`)}
              </Link>
            ))}
          </div>
          <Shown part={part} id={id} />
        </>
      ) : (
        <Empty title={t('functions.forbidden')}>{t('functions.forbiddenText')}</Empty>
      )}
    </div>
  )
}

function Shown({ part, id }: { part: Part; id: string | undefined }) {
  switch (part) {
    case 'all':
      return <Catalogue open={id} />
    case 'connect':
      return <Connect />
    case 'calls':
      return <Calls />
    case 'servers':
      return id ? <Server id={id} /> : <Servers />
    case 'credentials':
      return <Credentials />
    case 'knowledge':
      return <Knowledge />
  }
}
