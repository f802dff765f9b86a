import { useId, useState } from 'react'
import { t } from '../../../text'
import { Icon } from '../../../ui/icon'
import { useEditor } from './editor'
import { title } from './flow'
import type { FlowProblem } from './types'

/** Problems lists what validation has found; each leads to its node and field. */
export function Problems({ open }: { open: (problem: FlowProblem) => void }) {
  const { problems, flow } = useEditor()
  const [shown, show] = useState(false)
  const id = useId()
  const errors = problems.filter((problem) => problem.severity === 'error').length
  if (problems.length === 0) return null
  return (
    <div className="problems">
      <button type="button" className={`badge ${errors > 0 ? 'bad' : 'warn'}`} aria-expanded={shown} aria-controls={id} onClick={() => show(!shown)}>
        <Icon name="warn" size={14} />
        {t('canvas.problems', { n: problems.length })}
      </button>
      <ul id={id} hidden={!shown} aria-label={t('canvas.problems', { n: problems.length })}>
        {problems.map((problem, at) => (
          <li key={at}>
            <button
              type="button"
              disabled={!(problem.nodeId in flow.nodes)}
              onClick={() => {
                show(false)
                open(problem)
              }}
            >
              <span className={`badge ${problem.severity === 'error' ? 'bad' : 'warn'}`}>{t(problem.severity === 'error' ? 'canvas.error' : 'canvas.warning')}</span>
              <span>
                {problem.nodeId && <strong dir="auto">{title(problem.nodeId, flow.nodes[problem.nodeId])}</strong>} {problem.message}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
