package gift

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/fileio"
)

// columns lists the columns of a leaderboard's file.
const columns = "dataset,model,eval_metrics/MSE[mean],eval_metrics/MSE[0.5],eval_metrics/MAE[0.5]," +
	"eval_metrics/MASE[0.5],eval_metrics/MAPE[0.5],eval_metrics/sMAPE[0.5],eval_metrics/MSIS,eval_metrics/RMSE[mean]," +
	"eval_metrics/NRMSE[mean],eval_metrics/ND[0.5],eval_metrics/mean_weighted_sum_quantile_loss,domain,num_variates"

// WriteLeaderboard writes the scores of a method on the leaderboard's tasks in the format of its all_results.csv. Lines
// of a half of a task are left out.
func WriteLeaderboard(path string, lines []Line, method string) error {
	return fileio.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		rows := [][]string{strings.Split(columns, ",")}
		for _, l := range lines {
			t := TaskOf(l.Task)
			if t.leaderboard == "" || l.Half != Both || l.Published || l.Method != method || l.Status != machine.OK {
				continue
			}
			row := []string{t.leaderboard, method}
			rmse := math.Sqrt(l.MSEMean)
			for _, v := range []float64{l.MSEMean, l.MSE, l.MAE, l.MASE, l.MAPE, l.SMAPE / 100, l.MSIS, rmse, rmse / l.Absolute,
				l.MAE / l.Absolute, l.CRPS} {
				row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
			}
			rows = append(rows, append(row, "Healthcare", "1"))
		}
		if len(rows) == 1 {
			return fmt.Errorf("%s: there are no scores of %s on both halves of a task of the leaderboard", path, method)
		}
		return out.WriteAll(rows)
	})
}
