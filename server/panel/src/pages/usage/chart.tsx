import { useLayoutEffect, useRef, useState } from 'react'
import { money, short } from './money'
import type { Bar, Measure } from './series'

const height = 220
const foot = 24
const left = 64

/** Chart draws bars over time. The tables beside it say the same in words. */
export function Chart({ bars, what, label }: { bars: Bar[]; what: Measure; label: string }) {
  const ref = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(960)
  useLayoutEffect(() => {
    const sizes = new ResizeObserver(([entry]) => setWidth(Math.max(entry?.contentRect.width ?? 0, 240)))
    if (ref.current) sizes.observe(ref.current)
    return () => sizes.disconnect()
  }, [])
  const most = ceiling(Math.max(...bars.map((bar) => bar.total), 0))
  const step = (width - left) / Math.max(bars.length, 1)
  const wide = Math.max(Math.min(step * 0.7, 48), 1)
  const y = (value: number) => (height - foot - 8) * (value / most)
  const write = (value: number) => (what === 'cost' ? money(value) : short(value))
  const every = Math.ceil((bars.length * 72) / (width - left))
  return (
    <svg ref={ref} className="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line x1={left} x2={width} y1={height - foot - y(most * share)} y2={height - foot - y(most * share)} />
          <text x={left - 8} y={height - foot - y(most * share) + 4} textAnchor="end">
            {write(most * share)}
          </text>
        </g>
      ))}
      {bars.map((bar, at) => {
        let below = 0
        const x = left + step * at + (step - wide) / 2
        return (
          <g key={bar.at}>
            <title>{`${bar.at}: ${write(bar.total)}`}</title>
            {bar.parts.map((part) => {
              if (part.value <= 0) return null
              const top = height - foot - y(below + part.value)
              below += part.value
              return <rect key={part.colour} className={`fill s${part.colour}`} x={x} y={top} width={wide} height={Math.max(y(part.value) - 0.5, 0.5)} />
            })}
            {at % every === 0 && (
              <text x={x + wide / 2} y={height - 6} textAnchor="middle">
                {mark(bar.at)}
              </text>
            )}
          </g>
        )
      })}
    </svg>
  )
}

/** ceiling is the next number that is easy to read: 1, 2 or 5 with zeros. */
function ceiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const found = [1, 2, 5, 10].find((n) => n * power >= value) ?? 10
  return found * power
}

/** mark is a time as short as the foot of a chart needs it: the hour of an hour, else without the year. */
function mark(at: string): string {
  if (at.includes('T')) return at.slice(11, 16)
  return /^\d{4}-\d\d-\d\d$/.test(at) ? at.slice(5) : at
}
