import { lazy } from 'react'
import { useParams } from 'wouter'
import { useMay } from '../../session'
import { t } from '../../text'
import { Empty, PageHead } from '../../ui/parts'
import { Bots } from './bots'
import { Projects } from './projects'
import './flows.css'

const Editor = lazy(() => import('./editor'))

/** Flows lists bots and the flows of projects, or opens one. */
export default function Flows() {
  const { engine, id } = useParams<{ engine?: string; id?: string }>()
  if (id) return <Editor key={`${engine} ${id}`} engine={engine === 'bot' ? 'bot' : 'flow'} id={id} />
  return <Lists />
}

function Lists() {
  const mayBots = useMay('bots.manage')
  const mayFlows = useMay('flows.manage')
  return (
    <div className="page">
      <PageHead title={t('flows.title')} />
      {mayBots && <Bots />}
      {mayFlows && <Projects />}
      {!mayBots && !mayFlows && <Empty title={t('flows.forbidden')}>{t('flows.forbiddenText')}</Empty>}
    </div>
  )
}
