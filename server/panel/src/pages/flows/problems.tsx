import { t } from '../../text'
import { Badge } from '../../ui/parts'
import type { FlowProblem } from './engine'

type One = Pick<FlowProblem, 'severity' | 'nodeId' | 'path' | 'message' | 'hint'>

/** Problems says what is wrong with a document, and where. */
export function Problems({ problems }: { problems: readonly One[] }) {
  if (problems.length === 0) return <p className="mute">{t('edit.noProblems')}</p>
  return (
    <ul className="stack tight" aria-live="polite">
      {problems.map((problem, at) => (
        <li key={at}>
          <Badge tone={problem.severity === 'error' ? 'bad' : 'warn'}>{t(problem.severity === 'error' ? 'edit.error' : 'edit.warning')}</Badge>{' '}
          {problem.nodeId && <strong dir="auto">{problem.nodeId} </strong>}
          <span dir="auto">{problem.message}</span> {problem.hint && <span className="mute">{problem.hint}</span>} <span className="mono small mute">{problem.path}</span>
        </li>
      ))}
    </ul>
  )
}
