import { number, t } from '../../text'
import { Badge } from '../../ui/parts'
import type { Evaluation } from './config'

interface Props {
  report: Evaluation
  /** What the tests said before the last change. */
  before: Evaluation | undefined
  /** Something was changed since. */
  stale: boolean
  intents: boolean
}

const percent = (share: number | null) => (share === null ? '–' : number(share, { style: 'percent', maximumFractionDigits: 1 }))

/** Report says how many tests are right, and what became of them with the last change. */
export function Report({ report, before, stale, intents }: Props) {
  return (
    <div className="stack" role="status">
      <div className="row">
        <strong className="extractor-accuracy">{percent(report.accuracy)}</strong>
        <span>{t('extractors.right', { right: report.right, tests: report.tests })}</span>
        {before && <Change now={report} before={before} />}
        {stale && <Badge tone="warn">{t('extractors.stale')}</Badge>}
      </div>
      {report.failures.length > 0 && <Failures report={report} />}
      {intents && report.confused.length > 0 && <Confused report={report} />}
    </div>
  )
}

function Change({ now, before }: { now: Evaluation; before: Evaluation }) {
  const better = (now.accuracy ?? 0) - (before.accuracy ?? 0)
  const text = t('extractors.before', { before: percent(before.accuracy), right: before.right, tests: before.tests })
  if (better === 0) return <Badge>{text}</Badge>
  return (
    <Badge tone={better > 0 ? 'ok' : 'bad'}>
      {better > 0 ? '▲' : '▼'} {t(better > 0 ? 'extractors.better' : 'extractors.worse')} · {text}
    </Badge>
  )
}

const shownOf = (values: Record<string, unknown> | null | undefined) => (values && Object.keys(values).length ? JSON.stringify(values) : t('extractors.nomatch'))

function Failures({ report }: { report: Evaluation }) {
  return (
    <details open={report.failures.length <= 10}>
      <summary>{t('extractors.failures', { n: report.failures.length })}</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('extractors.failures', { n: report.failures.length })}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('extractors.text')}</th>
              <th scope="col">{t('extractors.mustFind')}</th>
              <th scope="col">{t('extractors.found')}</th>
            </tr>
          </thead>
          <tbody>
            {report.failures.slice(0, 100).map((miss) => (
              <tr key={miss.test}>
                <td dir="auto">
                  {miss.test + 1}. {miss.text}
                </td>
                <td className="mono">{shownOf(miss.wanted)}</td>
                <td className="mono">{shownOf(miss.found)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

/** Confused says of intents what is taken for what. */
function Confused({ report }: { report: Evaluation }) {
  const name = (intent: string) => (intent === 'nomatch' ? t('extractors.nomatch') : intent)
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('extractors.confused')}>
      <table className="table">
        <caption className="extractor-caption">{t('extractors.confused')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('extractors.meant')}</th>
            <th scope="col">{t('extractors.taken')}</th>
            <th scope="col">{t('extractors.times')}</th>
            <th scope="col">{t('extractors.example')}</th>
          </tr>
        </thead>
        <tbody>
          {report.confused.map((one) => (
            <tr key={`${one.intent} ${one.taken}`}>
              <td dir="auto">{name(one.intent)}</td>
              <td dir="auto">{name(one.taken)}</td>
              <td>{number(one.times)}</td>
              <td dir="auto">{one.example}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
