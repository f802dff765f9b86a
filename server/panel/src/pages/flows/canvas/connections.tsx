import { useState } from 'react'
import { t } from '../../../text'
import { Button } from '../../../ui/parts'
import { connect } from './edit'
import { useEditor } from './editor'
import { edges, openOutputs, type Port, ports, title } from './flow'
import type { FlowNode } from './types'

/** Connections lead from the outputs of a node, without a mouse: each has a choice of where to. */
export function Connections({ id, node, wrong, create }: { id: string; node: FlowNode; wrong: (output: string) => string | undefined; create: (output: string, near: HTMLElement) => void }) {
  const { flow, types, names, readOnly } = useEditor()
  const type = types.get(node.type)
  const found = ports(node, type, names)
  const before = edges(flow).filter((edge) => edge.to === id)
  return (
    <>
      {found.length > 0 && (
        <section className="stack tight" aria-label={t('canvas.connects')}>
          <h3>{t('canvas.connects')}</h3>
          <fieldset className="plain stack tight" disabled={readOnly}>
            {found.map((port) => (
              <Lead key={port.output} id={id} node={node} port={port} wrong={wrong(port.output)} create={create} />
            ))}
            {openOutputs(node, type).map(({ prefix, hint }) => (
              <Another key={prefix} prefix={prefix} hint={hint} create={create} />
            ))}
          </fieldset>
        </section>
      )}
      {before.length > 0 && (
        <section className="stack tight" aria-label={t('canvas.comesFrom')}>
          <h3>{t('canvas.comesFrom')}</h3>
          <ul className="stack tight">
            {before.map(({ id: edge, from, output }) => (
              <li key={edge}>
                <Goto to={from} /> <span className="mono mute">{output}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

/** Goto selects another node. */
function Goto({ to }: { to: string }) {
  const { flow, choose } = useEditor()
  return (
    <button type="button" className="link" onClick={() => choose([to])}>
      {title(to, flow.nodes[to])}
    </button>
  )
}

function Lead({ id, node, port, wrong, create }: { id: string; node: FlowNode; port: Port; wrong: string | undefined; create: (output: string, near: HTMLElement) => void }) {
  const { flow, document, edit } = useEditor()
  const to = node.next?.[port.output] ?? ''
  const name = `connect-${id}-${port.output}`
  const options = Object.entries(flow.nodes).filter(([other, { type }]) => other === to || (type !== 'trigger' && type !== 'note'))
  return (
    <div className="field lead" data-path={`next/${port.output}`}>
      <label htmlFor={name}>
        <span className="mono">{port.output}</span>
        {port.text && <span className="small mute"> {port.text}</span>}
      </label>
      <div className="lead-to">
        <select
          id={name}
          className="input"
          aria-invalid={wrong ? true : undefined}
          aria-describedby={wrong ? `${name}-wrong` : undefined}
          value={to}
          onChange={(event) => edit(connect(document, id, port.output, event.target.value || null), `connect ${id} ${port.output}`)}
        >
          <option value="">{t('canvas.nowhere')}</option>
          {to !== '' && !(to in flow.nodes) && <option value={to}>{t('canvas.gone', { name: to })}</option>}
          {options.map(([other, one]) => (
            <option key={other} value={other}>
              {one.name ? `${one.name} (${other})` : other}
            </option>
          ))}
        </select>
        <Button icon="plus" label={t('canvas.newAt', { name: port.output })} onClick={(event) => create(port.output, event.currentTarget)} />
      </div>
      {wrong && (
        <span className="wrong" id={`${name}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  )
}

/** Another gives a node one more output, as status:404. */
function Another({ prefix, hint, create }: { prefix: string; hint: string; create: (output: string, near: HTMLElement) => void }) {
  const [name, setName] = useState('')
  return (
    <div className="field">
      <label htmlFor={`another-${prefix}`}>{t('canvas.another', { name: prefix })}</label>
      <div className="lead-to">
        <input id={`another-${prefix}`} className="input mono" placeholder={hint} value={name} onChange={(event) => setName(event.target.value)} />
        <Button
          icon="plus"
          label={t('canvas.newAt', { name: prefix + name })}
          disabled={name === ''}
          onClick={(event) => {
            create(prefix + name, event.currentTarget)
            setName('')
          }}
        />
      </div>
    </div>
  )
}
