import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { memo, useEffect } from 'react'
import { number, t } from '../../../text'
import { Icon } from '../../../ui/icon'
import type { Port } from './flow'
import { Sign } from './icons'
import { portWidth } from './size'
import { typeName } from './type-name'
import type { Mark } from './types'

/** StepData is all that is drawn of a node. It is the same object until something of it changes. */
export interface StepData extends Record<string, unknown> {
  title: string
  type: string
  group: string
  summary: string
  ports: Port[]
  next: Record<string, string>
  disabled: boolean
  /** Whether a run begins here. */
  start: boolean
  /** Whether errors that nobody takes come here. */
  onError: boolean
  /** Whether an edge may lead here. */
  enters: boolean
  errors: number
  warnings: number
  mark: Mark | undefined
}

export type StepNode = Node<StepData, 'step'>

/** Step draws a node. What measures the panel sees each time that it does. */
export const Step = memo(function Step({ id, data }: NodeProps<StepNode>) {
  const { mark, errors, warnings } = data
  useEffect(() => {
    performance.mark('flow-node', { detail: id })
    performance.clearMarks('flow-node')
  })
  return (
    <div className={`step of-${data.group} ${data.disabled ? 'off' : ''} ${mark ? `is-${mark.state}` : ''} ${mark?.current ? 'current' : ''}`}>
      {data.enters && <Handle type="target" id="in" position={Position.Top} className="enter" isConnectableStart={false} />}
      <div className="step-head">
        <span className="step-sign">
          <Sign name={data.type} />
        </span>
        <span className="step-words">
          <span className="step-title" dir="auto">
            {data.title}
          </span>
          <span className="step-summary" dir="auto">
            {data.disabled ? t('canvas.off') : data.summary || typeName(data.type)}
          </span>
        </span>
      </div>
      {data.ports.length > 0 && (
        <div className="step-ports">
          {data.ports.map((port) => (
            <Outlet key={port.output} port={port} wired={port.output in data.next} />
          ))}
        </div>
      )}
      <div className="step-badges">
        {data.start && <span className="badge brand">{t('canvas.start')}</span>}
        {data.onError && <span className="badge">{t('canvas.takesErrors')}</span>}
        {mark && <MarkBadge mark={mark} />}
        {errors + warnings > 0 && (
          <span className={`badge ${errors > 0 ? 'bad' : 'warn'}`}>
            <Icon name="warn" size={12} />
            {errors > 0 ? t('canvas.errors', { n: errors }) : t('canvas.warnings', { n: warnings })}
          </span>
        )}
      </div>
    </div>
  )
})

function Outlet({ port, wired }: { port: Port; wired: boolean }) {
  const spot = port.side && !wired
  return (
    <Handle
      type="source"
      id={port.output}
      position={Position.Bottom}
      className={`port ${wired ? 'wired' : ''} ${spot ? 'spot' : ''}`}
      style={{ width: portWidth(port, wired) }}
      isConnectableEnd={false}
      title={port.text ? `${port.output}: ${port.text}` : port.output}
    >
      {!spot && <span className="port-label">{port.label}</span>}
    </Handle>
  )
}

const tones = { done: 'ok', failed: 'bad', waiting: 'warn', running: 'brand' } as const

function MarkBadge({ mark }: { mark: Mark }) {
  return (
    <span className={`badge ${tones[mark.state]}`}>
      <Sign name={mark.state} size={12} />
      {t(`canvas.${mark.state}`)}
      {mark.times > 1 && ` ×${number(mark.times)}`}
    </span>
  )
}
