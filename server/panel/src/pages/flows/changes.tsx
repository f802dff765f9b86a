import { t } from '../../text'
import { type Difference, leaves, none } from './diff'
import type { Document } from './engine'

type Change = Difference['document'][number]

/** Changes tells in words how two documents differ. */
export function Changes({ of, names }: { of: Difference; names: Document }) {
  if (none(of)) return <p className="mute">{t('edit.same')}</p>
  const name = (id: string) => nameOf(names, id)
  return (
    <ul className="changes stack">
      {of.nodes.map((node) => (
        <li key={node.id}>
          <span className={`sign ${node.kind}`}>{signs[node.kind]}</span> <strong dir="auto">{name(node.id)}</strong> <span className="mute">{node.type}</span> {t(`edit.${node.kind}`)}
          {node.changes.length > 0 && <Values changes={node.changes} under={`/nodes/${node.id}/`} />}
        </li>
      ))}
      {of.edges.map((edge) => (
        <li key={`${edge.node} ${edge.output}`}>
          <span className="sign changed">→</span> <strong dir="auto">{name(edge.node)}</strong> <span className="mono">{edge.output}</span>{' '}
          {t(edge.to === null ? 'edit.leadsNowhere' : 'edit.leads', { to: edge.to === null ? '' : name(edge.to) })} {edge.from !== null && <span className="mute">{t('edit.before', { from: name(edge.from) })}</span>}
        </li>
      ))}
      {of.document.length > 0 && (
        <li>
          <span className="sign changed">~</span> {t('edit.rest')}
          <Values changes={of.document} under="/" />
        </li>
      )}
      {of.functions?.map((one) => (
        <li key={one.slug}>
          <span className="sign changed">ƒ</span> <strong>{one.slug}</strong> {t('edit.function', { from: one.from ?? '–', to: one.to ?? '–' })}
        </li>
      ))}
    </ul>
  )
}

const signs = { added: '+', removed: '−', changed: '~' }

function Values({ changes, under }: { changes: Change[]; under: string }) {
  return (
    <dl className="change-values">
      {changes.flatMap((one) => leaves(one)).filter((one) => !one.path.endsWith('/type') || one.kind === 'changed').map((one) => (
        <div key={one.path}>
          <dt className="mono mute">{one.path.startsWith(under) ? one.path.slice(under.length) : one.path}</dt>
          <dd dir="auto">
            {one.kind !== 'added' && <del>{short(one.from)}</del>} {one.kind !== 'removed' && <ins>{short(one.to)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** nameOf is what people call a node. */
export function nameOf(document: Document, id: string): string {
  const nodes = document.nodes as Record<string, { name?: unknown } | null> | undefined
  const name = typeof nodes === 'object' && nodes !== null && Object.hasOwn(nodes, id) ? nodes[id]?.name : undefined
  return typeof name === 'string' && name !== '' ? name : id
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}
