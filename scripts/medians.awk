# Reads what "go test -bench" printed over several rounds and prints a Markdown
# table: each benchmark and unit with its median, least and greatest value.
/^pkg: / { pkg = $2; sub(/.*trunkline\//, "", pkg) }
/^Benchmark/ && NF >= 4 {
	name = $1
	sub(/^Benchmark/, "", name)
	sub(/-[0-9]+$/, "", name)
	for (i = 3; i < NF; i += 2) {
		key = pkg " | " name " | " $(i + 1)
		if (!(key in count)) keys[++total] = key
		values[key, ++count[key]] = $i
	}
}
END {
	print "| package | benchmark | unit | median | least | greatest | rounds |"
	print "|---|---|---|--:|--:|--:|--:|"
	for (k = 1; k <= total; k++) {
		key = keys[k]
		n = count[key]
		for (i = 1; i <= n; i++) {
			v = values[key, i]
			for (j = i - 1; j >= 1 && sorted[j] + 0 > v + 0; j--) sorted[j + 1] = sorted[j]
			sorted[j + 1] = v
		}
		print "| " key " | " sorted[int((n + 1) / 2)] " | " sorted[1] " | " sorted[n] " | " n " |"
	}
}
