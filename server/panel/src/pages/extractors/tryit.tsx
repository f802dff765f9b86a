import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, got, Problem, type Schemas } from '../../api/client'
import { number, t } from '../../text'
import { Input, TextArea } from '../../ui/field'
import { Button, Curl, Notice } from '../../ui/parts'
import type { Config, Extractor, Test } from './config'
import { type Match, segmentsOf } from './marked'

type Found = Schemas['ExtractorFound']

interface Said {
  text: string
  locale: string
  region: string
}

/** TryIt runs an extractor on a text: at once when that costs nothing, else when it is asked for. */
export function TryIt({ extractor, changed, keep }: { extractor: Extractor; changed: boolean; keep: (test: Test) => void }) {
  const config = extractor.config as Config
  const costs = extractor.kind === 'ai' || Boolean(config.fallback)
  const [said, setSaid] = useState<Said>({ text: '', locale: '', region: '' })
  const [asked, setAsked] = useState<Said | null>(null)
  useEffect(() => {
    if (costs) return
    const due = setTimeout(() => setAsked(said), 250)
    return () => clearTimeout(due)
  }, [said, costs])
  const body = asked && { text: asked.text, ...(asked.locale ? { locale: asked.locale } : {}), ...(asked.region ? { region: asked.region } : {}) }
  const found = useQuery({
    queryKey: ['extractor-run', extractor.id, config, extractor.training, body],
    queryFn: () => got(api.POST('/extractor/{extractorId}/run', { params: { path: { extractorId: extractor.id } }, body: body ?? {} })),
    enabled: Boolean(body?.text.trim()),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: false,
  })
  const run = asked?.text.trim() ? found.data : undefined
  return (
    <section className="card stack extractor-try" aria-labelledby="try">
      <h2 id="try">{t('extractors.try')}</h2>
      <TextArea label={t('extractors.text')} hint={t(changed ? 'extractors.tryUnsaved' : 'extractors.tryHint')} dir="auto" rows={3} value={said.text} onChange={(e) => setSaid({ ...said, text: e.target.value })} maxLength={65_536} />
      <details>
        <summary className="small mute">{t('extractors.writer')}</summary>
        <div className="extractor-pair">
          <Input label={t('extractors.locale')} placeholder="pt-BR" value={said.locale} onChange={(e) => setSaid({ ...said, locale: e.target.value })} maxLength={35} spellCheck={false} autoComplete="off" />
          <Input label={t('extractors.region')} placeholder="BR" value={said.region} onChange={(e) => setSaid({ ...said, region: e.target.value })} maxLength={35} spellCheck={false} autoComplete="off" />
        </div>
      </details>
      {costs && (
        <div className="row">
          <Button tone="main" icon="run" busy={found.isFetching} disabled={found.isFetching || !said.text.trim()} onClick={() => (JSON.stringify(said) === JSON.stringify(asked) ? void found.refetch() : setAsked(said))}>
            {t('extractors.run')}
          </Button>
          <span className="small mute">{t('extractors.costs')}</span>
        </div>
      )}
      {found.error && <Notice tone="warn">{found.error instanceof Problem && found.error.code === 'conflict' ? t('extractors.untrained') : found.error.message}</Notice>}
      <div className="stack" aria-live="polite">
        {run && asked && <Result text={asked.text} found={run} />}
      </div>
      {run && asked && (
        <div className="row">
          <Button icon="plus" onClick={() => keep({ text: asked.text, ...(asked.locale ? { locale: asked.locale } : {}), ...(asked.region ? { region: asked.region } : {}), values: run.values })}>
            {t('extractors.keepTest')}
          </Button>
        </div>
      )}
      {body?.text && <Curl method="POST" path={`/extractor/${extractor.id}/run`} body={body} />}
    </section>
  )
}

function Result({ text, found }: { text: string; found: Found }) {
  const { usage } = found
  return (
    <>
      <p className="words extractor-text" dir="auto">
        {segmentsOf(text, found.matches).map((part, at) =>
          part.matches.length > 0 ? (
            <mark key={at} title={part.matches.map((match) => match.name).join(', ')}>
              {part.text}
            </mark>
          ) : (
            part.text
          ),
        )}
      </p>
      {found.matches.length === 0 ? <p>{t('extractors.nothing')}</p> : <Matches matches={found.matches} />}
      <p className="small mute">
        {t('extractors.took', { ms: number(found.durationMs, { maximumFractionDigits: 2 }) })} ·{' '}
        {usage ? t('extractors.asked', { calls: usage.calls, tokens: number(usage.inputTokens + usage.outputTokens), cost: usage.cost === null ? '?' : number(usage.cost / 1e6, { style: 'currency', currency: 'USD', maximumFractionDigits: 6 }) }) : t('extractors.noModel')}
      </p>
    </>
  )
}

function Matches({ matches }: { matches: Match[] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('extractors.found')}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('extractors.value')}</th>
            <th scope="col">{t('extractors.source')}</th>
            <th scope="col">{t('extractors.confidence')}</th>
          </tr>
        </thead>
        <tbody>
          {matches.map((match, at) => (
            <tr key={at}>
              <td>
                <span className="small mute mono">{match.name}</span>
                <br />
                <strong dir="auto">{typeof match.value === 'string' ? match.value : JSON.stringify(match.value)}</strong>
              </td>
              <td dir="auto">
                <span className="extractor-source">“{match.text}”</span>
                <br />
                <span className="small mute">{match.type}</span>
              </td>
              <td>{number(match.confidence, { style: 'percent' })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
