import type { ReactNode, RefObject } from 'react'
import { t } from '../../../text'
import { Button } from '../../../ui/parts'
import { useEditor } from './editor'
import { title } from './flow'
import { Sign } from './icons'
import { typeName } from './type-name'
import type { FlowNode } from './types'

/** Side is what stands beside the drawing. */
export function Side({ title, sign, group, close, box, children }: { title: string; sign: string; group?: string | undefined; close: () => void; box?: RefObject<HTMLElement | null>; children: ReactNode }) {
  return (
    <section className="side" ref={box} aria-label={title}>
      <header className={`of-${group ?? 'flow'}`}>
        <span className="step-sign">
          <Sign name={sign} />
        </span>
        <h2 className="grow">{title}</h2>
        <Button tone="quiet" icon="close" label={t('close')} onClick={close} />
      </header>
      <div className="side-body stack">{children}</div>
    </section>
  )
}

/** Several says what can be done with more than one node. */
export function Several({ nodes, close, copy, duplicate, remove }: { nodes: [string, FlowNode | undefined][]; close: () => void; copy: () => void; duplicate: () => void; remove: () => void }) {
  const { readOnly } = useEditor()
  return (
    <Side title={t('canvas.several', { n: nodes.length })} sign="plain" close={close}>
      <ul>
        {nodes.map(([id, node]) => (
          <li key={id} className="clip" dir="auto">
            {title(id, node)} <span className="small mute">{typeName(node?.type ?? '')}</span>
          </li>
        ))}
      </ul>
      <div className="row">
        <Button icon="copy" onClick={copy}>
          {t('copy')}
        </Button>
        {!readOnly && (
          <>
            <Button icon="plus" onClick={duplicate}>
              {t('canvas.duplicate')}
            </Button>
            <Button icon="trash" tone="bad" onClick={remove}>
              {t('canvas.delete')}
            </Button>
          </>
        )}
      </div>
    </Side>
  )
}
